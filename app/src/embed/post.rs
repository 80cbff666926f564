//! What the page says to its host.

use js_sys::JSON;
use leptos::prelude::*;
use serde_json::{Map, Value as Json, json};
use unroll_protocol::{link::Value, read_number};
use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{ResizeObserver, Window};

use super::VERSION;

/// A message to the host.
pub enum Outgoing {
    Ready {
        settings: Vec<(&'static str, Value)>,
        /// Names of the figures that can be exported.
        figures: Vec<&'static str>,
    },
    Size {
        width: u32,
        height: u32,
    },
    Progress {
        step: u32,
        loss: Option<f32>,
        tokens_per_second: Option<f32>,
        running: bool,
    },
    /// `data` is the figure's own JSON.
    Exported {
        figure: &'static str,
        data: String,
    },
    Error {
        message: String,
    },
}

/// Posts a message to the host.
pub fn post(host: &Window, message: &Outgoing) {
    // Parsed by the browser into plain objects, which every host understands.
    let Ok(object) = JSON::parse(&encode(message)) else { return };
    // To any origin: a host from `file:` or in a sandbox has none that could be named. An export holds
    // what the learner typed into the frame, as the contract says: a host that asks for one gets it.
    let _ = host.post_message(&object, "*");
}

fn encode(message: &Outgoing) -> String {
    let mut body = Map::new();
    let kind = match message {
        Outgoing::Ready { settings, figures } => {
            let settings: Map<_, _> =
                settings.iter().map(|(name, value)| ((*name).to_owned(), as_json(value))).collect();
            body.insert("settings".to_owned(), settings.into());
            body.insert("figures".to_owned(), json!(figures));
            "ready"
        }
        Outgoing::Size { width, height } => {
            body.insert("width".to_owned(), json!(width));
            body.insert("height".to_owned(), json!(height));
            "size"
        }
        Outgoing::Progress { step, loss, tokens_per_second, running } => {
            body.insert("step".to_owned(), json!(step));
            // A loss that is not a number becomes null, as JSON has no word for it.
            body.insert("loss".to_owned(), json!(loss.and_then(short)));
            body.insert("tokens_per_second".to_owned(), json!(tokens_per_second.and_then(short)));
            body.insert("running".to_owned(), json!(running));
            "progress"
        }
        // Put in as it is: parsing it only to write it again would cost time and digits.
        Outgoing::Exported { figure, data } => {
            return format!(
                r#"{{"unroll":{VERSION},"type":"exported","figure":"{figure}","data":{data}}}"#
            );
        }
        Outgoing::Error { message } => {
            body.insert("message".to_owned(), json!(message));
            "error"
        }
    };
    body.insert("unroll".to_owned(), json!(VERSION));
    body.insert("type".to_owned(), json!(kind));
    Json::Object(body).to_string()
}

/// A setting's value as a `set` message takes it.
fn as_json(value: &Value) -> Json {
    match value {
        Value::Whole(value) => json!(value),
        Value::Real(value) => json!(short(*value)),
        Value::Numbers(numbers) => numbers.iter().map(|number| json!(short(*number))).collect(),
        Value::Choice(id) => json!(id),
        Value::Word(word) => json!(word),
        Value::Several(ids) => json!(ids),
        Value::Flag(on) => json!(on),
        Value::Forced(forced) => {
            json!(forced.iter().map(ToString::to_string).collect::<Vec<_>>())
        }
        Value::Heads(heads) => json!(heads.iter().map(ToString::to_string).collect::<Vec<_>>()),
    }
}

/// The number with the fewest digits that is this one: 0.003, not 0.003000000026077032.
fn short(number: f32) -> Option<f64> {
    read_number(&number.to_string())
}

/// Calls `changed` with the size of the page's content now and whenever it changes.
pub fn use_size(changed: impl Fn(u32, u32) + 'static) {
    let Some(root) = document().document_element() else { return };
    let observed = root.clone();
    let mut last = None;
    let callback = Closure::<dyn FnMut()>::new(move || {
        let area = observed.get_bounding_client_rect();
        let size = (observed.scroll_width().max(0) as u32, area.height().ceil() as u32);
        // A host that answers by resizing the frame must not set off an endless exchange.
        if last != Some(size) {
            last = Some(size);
            changed(size.0, size.1);
        }
    });
    let Ok(observer) = ResizeObserver::new(callback.as_ref().unchecked_ref()) else { return };
    observer.observe(&root);
    let held = StoredValue::new_local((observer, callback));
    on_cleanup(move || {
        held.try_with_value(|(observer, _): &(ResizeObserver, Closure<dyn FnMut()>)| {
            observer.disconnect();
        });
    });
}

/// What a browser parses a message into, for tests.
#[cfg(test)]
fn parsed(message: &Outgoing) -> Json {
    serde_json::from_str(&encode(message)).expect("a message is JSON")
}

#[cfg(test)]
mod tests {
    use unroll_protocol::{Link, link::settings};

    use super::{
        super::request::{ADDRESS_ONLY, parse_request},
        *,
    };

    #[test]
    fn messages_are_versioned_json() {
        let message = parsed(&Outgoing::Error { message: "“a\"b”\n".to_owned() });
        assert_eq!(message, json!({"unroll": 1, "type": "error", "message": "“a\"b”\n"}));
        let message = parsed(&Outgoing::Progress {
            step: 3,
            loss: Some(f32::NAN),
            tokens_per_second: None,
            running: true,
        });
        assert_eq!(message["loss"], Json::Null);
        let data = r#"{"values":[0.1]}"#.to_owned();
        let message = parsed(&Outgoing::Exported { figure: "loss", data });
        assert_eq!(message["data"]["values"][0], json!(0.1));
    }

    #[test]
    fn what_ready_says_can_be_set_again() {
        let link = Link::default();
        let settings = settings().map(|row| (row.name, (row.get)(&link))).collect();
        let mut settings =
            parsed(&Outgoing::Ready { settings, figures: vec![] })["settings"].clone();
        assert_eq!(settings["lr"], json!(0.005));
        for name in ADDRESS_ONLY {
            settings.as_object_mut().and_then(|s| s.remove(name)).expect("a setting");
        }
        let set = json!({"unroll": 1, "type": "set", "settings": settings}).to_string();
        assert_eq!(parse_request(&set).err(), None);
    }
}
