//! The lab's model as a file: saved for other programs and for later, and opened again.

use js_sys::{Array, Uint8Array};
use leptos::{html, prelude::*, task::spawn_local};
use serde_json::Value;
use unroll_protocol::{Checkpoint, Link, Tokens};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Blob, BlobPropertyBag, File};

use super::{
    MODEL, files_of,
    incoming::{Beside, Incoming, PREAMBLE, Refusal, head_length},
    is_model,
    outgoing::{Outgoing, is_gpt2},
};
use crate::{
    controls::pairs_of,
    figures::{Curve, hand_over},
    reactive::{effect, next_task},
    store::{Severity, Store},
};

/// Most bytes of a file that says something about a model.
const LONGEST_BESIDE: f64 = 8e6;

/// Saves and opens the model, in the settings.
pub fn section(store: Store) -> AnyView {
    let with_optimizer = RwSignal::new(false);
    // Whether the next checkpoint is to be saved.
    let wanted = StoredValue::new(false);
    effect(move || {
        store.kept.track();
        if wanted.get_value()
            && let Some(checkpoint) = store.saved()
        {
            wanted.set_value(false);
            spawn_local(async move {
                let link = store.built.get_untracked();
                let text = store.source.with_untracked(|source| source.name.clone());
                let with_optimizer = with_optimizer.get_untracked();
                if save(&checkpoint, &link, &text, with_optimizer).await.is_err() {
                    store.notify(Severity::Refusal, "The browser could not save the model.");
                }
            });
        }
    });
    let is_ready =
        move || store.started.with(Option::is_some) && store.tokens() == Tokens::Characters;
    let ask = move |_| {
        if untrack(is_ready) {
            wanted.set_value(true);
            store.save_now();
        }
    };
    let input = NodeRef::<html::Input>::new();
    let opened = move |_| {
        if let Some(input) = input.get_untracked() {
            open(store, input.files().as_ref().map_or_else(Vec::new, files_of));
            // The same file may be chosen again after it was changed.
            input.set_value("");
        }
    };
    let note = move || match store.built.with(|link| is_gpt2(&link.gpt.architecture)) {
        _ if store.tokens() != Tokens::Characters => {
            "Model files hold models that read single characters, so this one can’t be saved as a file. This browser keeps it all the same."
        }
        true => {
            "The file holds the weights and the vocabulary. The weights have the names and shapes of GPT-2 in Hugging Face’s transformers, so transformers can use them. PyTorch can read them with the safetensors library."
        }
        false => {
            "The file holds the weights and the vocabulary. PyTorch can read the weights with the safetensors library. This model is not built like GPT-2, so Hugging Face’s transformers can’t run it."
        }
    };
    view! {
        <section class="kept" data-testid="model-file">
            <h3>"Model file"</h3>
            <p class="hint">{note}</p>
            <label class="kept-option">
                <input type="checkbox" data-testid="model-with-optimizer"
                    on:change=move |event| with_optimizer.set(event_target_checked(&event))/>
                "Include the optimizer’s state, so that training can continue exactly from here"
            </label>
            <div class="button-row">
                <button type="button" class="button" data-testid="model-save" on:click=ask
                    aria-disabled=move || (!is_ready()).then_some("true")>
                    "Save the model"
                </button>
                <label class="button button-file">
                    "Open a model …"
                    <input type="file" class="visually-hidden" data-testid="model-open" multiple=true
                        accept=".safetensors,.json" node_ref=input on:change=opened/>
                </label>
            </div>
        </section>
    }
    .into_any()
}

async fn save(
    checkpoint: &Checkpoint,
    link: &Link,
    text: &str,
    with_optimizer: bool,
) -> Result<(), JsValue> {
    let outgoing = Outgoing::new(checkpoint, with_optimizer);
    let pieces = Array::new();
    pieces.push(&Uint8Array::from(&*outgoing.head(link, text)));
    for body in outgoing.bodies() {
        pieces.push(&Uint8Array::from(&*body));
        next_task().await;
    }
    let options = BlobPropertyBag::new();
    options.set_type("application/octet-stream");
    let blob = Blob::new_with_u8_array_sequence_and_options(&pieces, &options)?;
    hand_over(&blob, &format!("unroll-step-{}{MODEL}", checkpoint.step))
}

/// Opens the model among some files, with what the others say about it.
pub fn open(store: Store, files: Vec<File>) {
    let Some(model) = files.iter().find(|file| is_model(file)).or(files.first()).cloned() else {
        return;
    };
    spawn_local(async move {
        match read(store, &model, &files).await {
            Ok(incoming) => {
                for note in &incoming.notes {
                    store.notify(Severity::Note, note.clone());
                }
                let (link, source) = (incoming.link.clone(), store.source.get_untracked());
                let probe = store.probe.get_untracked();
                let checkpoint = Box::new(incoming.checkpoint());
                store.take_up_run(&link, source, Curve::default(), probe, checkpoint, None);
            }
            Err(refusal) => store.notify(
                Severity::Refusal,
                format!(
                    "“{}” can’t be opened. {refusal} The model you see is unchanged.",
                    model.name()
                ),
            ),
        }
    });
}

async fn read(store: Store, model: &File, files: &[File]) -> Result<Incoming, Refusal> {
    let size = model.size();
    let preamble = bytes(model, 0.0, PREAMBLE as f64).await?;
    let length = head_length(&preamble, size as u64)? as f64;
    let begin = PREAMBLE as f64;
    let head = bytes(model, begin, begin + length).await?;
    let started = store.started.get_untracked();
    let mut beside = Beside {
        heads: store.built.with_untracked(|link| link.gpt.heads),
        present: started
            .filter(|started| started.spec.tokens == Tokens::Characters)
            .map_or_else(Vec::new, |started| started.vocabulary.clone()),
        ..Beside::default()
    };
    for file in files.iter().filter(|file| !is_model(file) && file.size() <= LONGEST_BESIDE) {
        let text = bytes(file, 0.0, file.size()).await?;
        if let Ok(value) = serde_json::from_slice(&text) {
            beside.add(value);
        }
    }
    let settings = |query: &str| {
        let pairs = pairs_of(query);
        Link::parse_query(pairs.iter().map(|(name, value)| (&**name, &**value))).0
    };
    let mut incoming = Incoming::new(&head, size as u64, &beside, settings)?;
    for (number, range) in incoming.ranges().into_iter().enumerate() {
        let bytes = bytes(model, range.start as f64, range.end as f64).await?;
        incoming.take(number, &bytes)?;
    }
    Ok(incoming)
}

/// Bytes of a file. What can't be read is as good as a file that ends there.
async fn bytes(file: &File, from: f64, to: f64) -> Result<Vec<u8>, Refusal> {
    let slice = file.slice_with_f64_and_f64(from, to).map_err(|_| Refusal::Truncated)?;
    let buffer = JsFuture::from(slice.array_buffer()).await.map_err(|_| Refusal::Truncated)?;
    Ok(Uint8Array::new(&buffer).to_vec())
}

impl Beside {
    /// Takes what a file says that was chosen together with the model.
    fn add(&mut self, value: Value) {
        if ["n_head", "n_embd", "model_type"].iter().any(|name| value.get(name).is_some()) {
            self.config = Some(value);
        } else if let Some(vocabulary) = value.pointer("/model/vocab") {
            self.vocabulary = Some(vocabulary.clone());
        } else {
            self.vocabulary = Some(value);
        }
    }
}
