//! What a host may ask: a pure reading of one message.

use serde_json::{Map, Value as Json};
use unroll_protocol::{
    Link,
    link::{Kind, Setting, Value, settings},
};

use super::VERSION;

/// Longest message read, in bytes. All settings together take under a kilobyte.
pub const MOST_BYTES: usize = 64 * 1024;
/// Settings decided when the page opens: a host puts them into the address of its frame.
pub const ADDRESS_ONLY: [&str; 8] =
    ["chapter", "device", "adapter", "idea", "autostart", "step", "embed", "hide"];

/// A change of settings; each was read by its row of the table.
pub struct Changes(Vec<(&'static Setting, Value)>);

impl Changes {
    /// Makes the changes.
    pub fn apply(&self, link: &mut Link) {
        for (setting, value) in &self.0 {
            (setting.set)(link, value.clone());
        }
    }

    /// The view that is asked for, if one is; which there are, only the chapter knows.
    pub fn view(&self) -> Option<&str> {
        self.0.iter().find_map(|(setting, value)| match value {
            Value::Word(view) if setting.name == "view" => Some(view.as_str()),
            _ => None,
        })
    }

    /// The rows that are changed.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.0.iter().map(|(setting, _)| setting.name)
    }
}

/// What a host asks for.
pub enum Request {
    Set(Changes),
    Run,
    Pause,
    Step,
    Reset,
    /// The data of the figure with this name, or of all.
    Export(Option<String>),
}

/// Reads a message's JSON; the error is a sentence for the host's author.
pub fn parse_request(json: &str) -> Result<Request, String> {
    if json.len() > MOST_BYTES {
        return Err(format!("A message may have at most {MOST_BYTES} bytes."));
    }
    let Ok(Json::Object(message)) = serde_json::from_str(json) else {
        return Err(format!(
            "A message is an object such as {{unroll: {VERSION}, type: \"run\"}}."
        ));
    };
    if message.get("unroll").and_then(Json::as_u64) != Some(VERSION) {
        return Err(format!("A message says unroll: {VERSION}, the version of the contract."));
    }
    let Some(kind) = message.get("type").and_then(Json::as_str) else {
        return Err("A message has a type, as a string.".to_owned());
    };
    match kind {
        "set" => read_settings(&message).map(Request::Set),
        "run" => Ok(Request::Run),
        "pause" => Ok(Request::Pause),
        "step" => Ok(Request::Step),
        "reset" => Ok(Request::Reset),
        "export" => read_figure(&message).map(Request::Export),
        other => Err(format!(
            "“{}” is no message type; there are set, run, pause, step, reset and export.",
            short(other)
        )),
    }
}

fn read_settings(message: &Map<String, Json>) -> Result<Changes, String> {
    let Some(Json::Object(settings)) = message.get("settings") else {
        return Err("A set message has settings, an object such as {layers: 2}.".to_owned());
    };
    settings
        .iter()
        .map(|(name, given)| read_setting(name, given))
        .collect::<Result<_, _>>()
        .map(Changes)
}

fn read_setting(name: &str, given: &Json) -> Result<(&'static Setting, Value), String> {
    let Some(setting) = settings().find(|setting| setting.name == name) else {
        return Err(format!("There is no setting “{}”.", short(name)));
    };
    if ADDRESS_ONLY.contains(&name) {
        return Err(format!("{name} can only be set in the address of the frame."));
    }
    let value = as_query(given).and_then(|text| setting.kind.parse(&text));
    match value {
        Some(Value::Choice("own")) if name == "corpus" => {
            Err("corpus can’t be set to own: a text can’t be sent in a message.".to_owned())
        }
        Some(value) => Ok((setting, value)),
        None if setting.kind == Kind::Flag => Err(format!("{name} is true or false.")),
        None => Err(format!("{name} is {}.", setting.kind)),
    }
}

/// A JSON value as it would stand in a query.
fn as_query(given: &Json) -> Option<String> {
    match given {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) => Some(number.to_string()),
        Json::Bool(on) => Some(if *on { "1" } else { "0" }.to_owned()),
        Json::Array(items) => {
            let one = |item: &Json| match item {
                Json::Array(_) => None,
                item => as_query(item),
            };
            let items: Option<Vec<_>> = items.iter().map(one).collect();
            Some(items?.join(","))
        }
        Json::Null | Json::Object(_) => None,
    }
}

fn read_figure(message: &Map<String, Json>) -> Result<Option<String>, String> {
    let Some(figure) = message.get("figure") else { return Ok(None) };
    let is_name = |name: &&str| {
        (1..=40).contains(&name.len())
            && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    let name = figure.as_str().filter(is_name);
    name.map(|name| Some(name.to_owned())).ok_or_else(|| {
        "figure is the name of a figure on the stage; ready lists those it begins with.".to_owned()
    })
}

/// The beginning of what a host sent, to be quoted back.
fn short(text: &str) -> String {
    let mut cut: String = text.chars().take(40).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(json: &str) -> String {
        parse_request(json).err().unwrap_or_else(|| panic!("{json} was taken"))
    }

    #[test]
    fn reads_every_request() {
        let read = |json: &str| parse_request(json).unwrap();
        assert!(matches!(read(r#"{"unroll":1,"type":"run"}"#), Request::Run));
        assert!(matches!(read(r#"{"unroll":1,"type":"pause","more":[1]}"#), Request::Pause));
        assert!(matches!(read(r#"{"unroll":1,"type":"step"}"#), Request::Step));
        assert!(matches!(read(r#"{"unroll":1,"type":"reset"}"#), Request::Reset));
        let export = |json: &str| match read(json) {
            Request::Export(figure) => figure,
            _ => panic!("no export"),
        };
        let loss = export(r#"{"unroll":1,"type":"export","figure":"loss"}"#);
        assert_eq!(loss.as_deref(), Some("loss"));
        assert_eq!(export(r#"{"unroll":1,"type":"export"}"#), None);
    }

    #[test]
    fn settings_go_through_the_table() {
        let json = r#"{"unroll":1,"type":"set","settings":
            {"layers":3,"lr":0.01,"tied":true,"heads":"2","off":["1.2","2.1"],"view":"next"}}"#;
        let Ok(Request::Set(changes)) = parse_request(json) else { panic!("not taken") };
        let mut link = Link::default();
        changes.apply(&mut link);
        assert_eq!(
            (link.gpt.layers, link.gpt.heads, link.gpt.learning_rate, link.gpt.tied),
            (3, 2, 0.01, true)
        );
        assert_eq!((link.off.len(), changes.view()), (2, Some("next")));
        assert_eq!(changes.names().count(), 6);
    }

    #[test]
    fn whatever_is_malformed_has_a_sentence() {
        let set = |settings: &str| format!(r#"{{"unroll":1,"type":"set","settings":{settings}}}"#);
        let deep = format!("{}{}", "[".repeat(20_000), "]".repeat(20_000));
        for json in [
            "",
            "null",
            "7",
            "\"run\"",
            "[]",
            "{}",
            "{",
            deep.as_str(),
            r#"{"type":"run"}"#,
            r#"{"unroll":2,"type":"run"}"#,
            r#"{"unroll":"1","type":"run"}"#,
            r#"{"unroll":1}"#,
            r#"{"unroll":1,"type":7}"#,
            r#"{"unroll":1,"type":"explode"}"#,
            r#"{"unroll":1,"type":"set"}"#,
            r#"{"unroll":1,"type":"export","figure":"x y"}"#,
            r#"{"unroll":1,"type":"export","figure":""}"#,
            r#"{"unroll":1,"type":"export","figure":null}"#,
            &set("[]"),
            &set(r#"{"layers":99}"#),
            &set(r#"{"layers":2.5}"#),
            &set(r#"{"layers":-1}"#),
            &set(r#"{"layers":1e400}"#),
            &set(r#"{"layers":null}"#),
            &set(r#"{"lr":"NaN"}"#),
            &set(r#"{"off":[1]}"#),
            &set(r#"{"hide":"loss"}"#),
            &set(r#"{"tied":"yes"}"#),
            &set(r#"{"__proto__":{}}"#),
            &set(r#"{"device":"cpu"}"#),
            &set(r#"{"corpus":"own"}"#),
            // One bad setting spoils all: nothing is half done.
            &set(r#"{"layers":2,"speling":1}"#),
        ] {
            let said = error(json);
            assert!(said.ends_with('.') && said.len() < 200, "{json}: {said}");
        }
        assert!(error(&" ".repeat(MOST_BYTES + 1)).contains("at most"));
        let long = format!(r#"{{"unroll":1,"type":"{}"}}"#, "é".repeat(9000));
        assert!(error(&long).len() < 200);
    }
}
