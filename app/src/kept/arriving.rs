//! A model of another's making that goes to the engine piece by piece: it is too large to be in the page's
//! memory, even for a moment.

use core::ops::Range;

use unroll_model_file::{Layout, PREFIX, Place, Tensor, places, tensors};
use unroll_protocol::{GivenModel, Weights};

use super::incoming::{
    About, Beside, Infos, Need, Refusal, foreign, infos, metadata, needs, of_our_form,
};

/// Most values of a piece: 1 MB as 32-bit numbers.
const PIECE: usize = 1 << 18;

/// A file whose head was understood.
pub struct Arriving {
    pub model: GivenModel,
    /// What the learner should know about how it was understood.
    pub notes: Vec<String>,
    places: Vec<Place>,
    tensors: Vec<Tensor>,
    needs: Vec<Need>,
}

/// Some rows of a tensor.
pub struct Piece {
    need: usize,
    rows: Range<usize>,
    /// Where they are in the file.
    pub bytes: Range<u64>,
}

impl Arriving {
    /// Understands the head of a file of so many bytes, with the tokenizer in `beside`.
    pub fn new(head: &[u8], file: u64, beside: &Beside) -> Result<Self, Refusal> {
        let (metadata, begins) = metadata(head, file)?;
        let about = About::new(&metadata);
        let mut notes = Vec::new();
        let infos: Infos = infos(&metadata);
        let config = beside.config.as_ref().or(about.config.as_ref());
        of_our_form(config, &infos)?;
        let embedding = infos.get(&format!("{PREFIX}wte.weight")).ok_or(Refusal::NoModel)?;
        let count = embedding.shape.first().copied().unwrap_or_default();
        let gpt = foreign(&infos, config, beside, &mut notes)?;
        gpt.validate_given(count).map_err(Refusal::Spec)?;
        let (tokens, tokenizer) = (count as u32, beside.tokenizer.clone());
        let places = places(&gpt, count);
        let tensors = tensors(&places);
        let mut needs = needs(&infos, &tensors, begins, gpt.tied)?;
        needs.retain(Need::is_parameter);
        Ok(Self { model: GivenModel { gpt, tokens, tokenizer }, notes, places, tensors, needs })
    }

    /// Number of weights that the engine is to get.
    pub fn values(&self) -> u64 {
        self.places.iter().map(|place| place.count() as u64).sum()
    }

    /// All pieces, one after the other as they are in each tensor.
    pub fn pieces(&self) -> impl Iterator<Item = Piece> {
        self.needs.iter().enumerate().flat_map(|(at, need)| {
            let [rows, columns] = self.tensors[need.place].rows();
            let (step, bytes) = ((PIECE / columns.max(1)).max(1), need.bytes());
            let row = (bytes.end - bytes.start) / rows.max(1) as u64;
            (0..rows).step_by(step).map(move |from| {
                let rows = from..rows.min(from + step);
                let at_row = |at: usize| bytes.start + row * at as u64;
                Piece { need: at, bytes: at_row(rows.start)..at_row(rows.end), rows }
            })
        })
    }

    /// The weights in a piece.
    pub fn weights(&self, piece: &Piece, bytes: &[u8]) -> Result<Vec<Weights>, Refusal> {
        if bytes.len() as u64 != piece.bytes.end - piece.bytes.start {
            return Err(Refusal::Truncated);
        }
        let need = &self.needs[piece.need];
        let (values, tensor) = (need.decoded(bytes), &self.tensors[need.place]);
        let weights = tensor.parameters.iter().map(|&number| {
            let place = &self.places[number];
            let [_, columns] = tensor.rows();
            let (count, first) = (piece.rows.len(), piece.rows.start);
            let (begin, row, stride, values) = match place.layout {
                Layout::Whole => (first * columns, count * columns, 0, values.clone()),
                Layout::Third(part) => {
                    let width = columns / 3;
                    let rows = values.chunks(columns);
                    let third = rows.flat_map(|row| &row[part * width..][..width]).copied();
                    (first * width, count * width, 0, third.collect())
                }
                Layout::Transposed => {
                    let column = |at: usize| values[at..].iter().step_by(columns).copied();
                    let all = (0..columns).flat_map(column).collect();
                    (first, count, place.shape[1], all)
                }
            };
            let [begin, row, stride] = [begin, row, stride].map(|size| size as u32);
            Weights { parameter: number as u32, begin, row, stride, values }
        });
        Ok(weights.collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use burn::tensor::Device;
    use serde::Deserialize;
    use serde_json::{Value, json};
    use unroll_model::{Filling, Generator, Given, PatchError, Reading, read_all, token_tensor};
    use unroll_protocol::{
        SampleSpec, Sampling, TokenizerFile,
        gpt::{HEAD_JOBS, Lens, Place},
        study::heads::{HeadAt, Statistics},
    };

    use super::*;
    use crate::kept::incoming::{PREAMBLE, head_length};

    const FILE: &[u8] = include_bytes!("../../../tests/golden/gpt2/model.safetensors");
    const TOKENIZER: &str = include_str!("../../../tests/golden/gpt2/tokenizer.json");
    const CONFIG: &str = include_str!("../../../tests/golden/gpt2/config.json");
    const EXPECTED: &str = include_str!("../../../tests/golden/gpt2/expected.json");

    fn beside() -> Beside {
        let [name, text] = ["tokenizer.json", TOKENIZER].map(str::to_owned);
        let tokenizer = vec![TokenizerFile { name, text }];
        Beside { config: serde_json::from_str(CONFIG).ok(), tokenizer, ..Beside::default() }
    }

    fn arriving(file: &[u8], beside: &Beside) -> Result<Arriving, Refusal> {
        let length = head_length(file, file.len() as u64)? as usize;
        Arriving::new(&file[PREAMBLE as usize..][..length], file.len() as u64, beside)
    }

    fn opened(file: &[u8], beside: &Beside) -> Given {
        let arriving = arriving(file, beside).unwrap();
        let mut filling = Filling::new(&arriving.model, &Device::flex()).unwrap();
        let mut there = 0;
        for piece in arriving.pieces() {
            let bytes = &file[piece.bytes.start as usize..piece.bytes.end as usize];
            for weights in arriving.weights(&piece, bytes).unwrap() {
                assert!(weights.values.len() <= PIECE);
                there = filling.put(&weights).unwrap();
            }
        }
        assert_eq!(there, arriving.values());
        filling.finish()
    }

    fn logits(given: &Given, ids: &[u32]) -> Vec<f32> {
        let tokens = token_tensor(ids, 1, &given.model.device());
        let logits = given.model.forward(tokens).reshape([-1]);
        pollster::block_on(read_all([logits])).unwrap().concat()
    }

    /// The same file with another head, and with more bytes behind it.
    fn with_head(change: impl FnOnce(&mut Value), more: &[u8]) -> Vec<u8> {
        let length = head_length(FILE, FILE.len() as u64).unwrap() as usize;
        let mut head: Value = serde_json::from_slice(&FILE[8..8 + length]).unwrap();
        change(&mut head);
        let head = serde_json::to_vec(&head).unwrap();
        [&(head.len() as u64).to_le_bytes(), head.as_slice(), &FILE[8 + length..], more].concat()
    }

    /// What `transformers` computes with the file: see tests/golden/make_gpt2.py.
    #[derive(Deserialize)]
    struct Expected {
        text: String,
        ids: Vec<u32>,
        logits: Vec<Vec<f32>>,
        weights: Vec<Vec<Vec<Vec<f32>>>>,
        lens: ExpectedLens,
        habits: Vec<Vec<[f32; 4]>>,
        cosines: Vec<Vec<f32>>,
        half: Vec<u32>,
        scores: BTreeMap<String, Vec<Vec<f32>>>,
        losses: [f32; 2],
        other: String,
        patched: Vec<Vec<f32>>,
        greedy: Vec<u32>,
        written: String,
    }

    #[derive(Deserialize)]
    struct ExpectedLens {
        best: Vec<Vec<u32>>,
        shares: Vec<Vec<f32>>,
        finally: Vec<Vec<f32>>,
    }

    fn expected() -> Expected {
        serde_json::from_str(EXPECTED).unwrap()
    }

    #[track_caller]
    fn assert_near(found: &[f32], expected: impl IntoIterator<Item = f32>, tolerance: f32) {
        let expected: Vec<f32> = expected.into_iter().collect();
        assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < tolerance, "{found} instead of {expected}");
        }
    }

    #[test]
    fn a_file_computes_what_transformers_does() {
        let (given, expected) = (opened(FILE, &beside()), expected());
        assert_eq!(given.tokenizer.encode(&expected.text), expected.ids);
        let found = logits(&given, &expected.ids);
        assert_near(&found, expected.logits.into_iter().flatten(), 1e-4);
        let trace = unroll_model::trace(&given.model, &given.tokenizer, &expected.text, 0);
        let trace = pollster::block_on(trace).unwrap();
        let weights = expected.weights.into_iter().flatten().flatten().flatten();
        assert_near(&trace.weights.values, weights, 1e-5);
    }

    #[test]
    fn the_stream_says_the_same_after_every_block() {
        let (given, expected) = (opened(FILE, &beside()), expected());
        let (model, tokenizer) = (&given.model, &given.tokenizer);
        let lens = |text: &str, range: [u32; 2]| -> Lens {
            let reading = Reading::of(model, tokenizer, text).unwrap();
            pollster::block_on(reading.lens(model, tokenizer, range)).unwrap()
        };
        // In three parts, of which the last is shorter than it was asked for.
        let reading = Reading::of(model, tokenizer, &expected.text).unwrap();
        let parts = [[0, 1], [1, 15], [16, 8]]
            .map(|range| pollster::block_on(reading.lens(model, tokenizer, range)).unwrap());
        let shapes = parts.each_ref().map(|part| (part.from, part.shares.shape.clone()));
        assert_eq!(shapes, [(0, vec![3, 1]), (1, vec![3, 15]), (16, vec![3, 7])]);
        for part in &parts {
            assert_eq!((part.tokens.len(), part.dropped), (23, 0));
        }
        let joined = |of: fn(&Lens) -> &[f32]| -> Vec<f32> {
            let row = |depth: usize| {
                parts.iter().flat_map(move |part| {
                    let columns = of(part).len() / 3;
                    of(part)[depth * columns..][..columns].to_vec()
                })
            };
            (0..3).flat_map(row).collect()
        };
        assert_near(&joined(|part| &part.shares.values), expected.lens.shares.concat(), 1e-5);
        assert_near(&joined(|part| &part.finally.values), expected.lens.finally.concat(), 1e-5);
        let best = expected.lens.best.concat();
        let all = lens(&expected.text, [0, 99]);
        assert_eq!(all.best, best.iter().map(|id| given.tokenizer.label(*id)).collect::<Vec<_>>());
        // One that is not there is the last.
        let last = lens(&expected.text, [99, 8]);
        assert_eq!((last.from, last.shares.shape.as_slice()), (22, [3, 1].as_slice()));
        assert_near(&last.finally.values, [22, 45, 68].map(|at| all.finally.values[at]), 1e-6);
        // Of a long text the last tokens are read, each with all before it.
        let long = expected.text.repeat(2);
        let tokens = given.tokenizer.encode(&long);
        let lens = lens(&long, [0, 32]);
        assert_eq!((lens.tokens.len(), lens.dropped as usize), (32, tokens.len() - 32));
        let last = logits(&given, &tokens);
        let row = &last[(tokens.len() - 1) * 300..];
        let highest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f32 = row.iter().map(|logit| (logit - highest).exp()).sum();
        assert_near(&lens.shares.values[95..], [1.0 / sum], 1e-5);
    }

    #[test]
    fn heads_have_the_same_habits() {
        let (given, expected) = (opened(FILE, &beside()), expected());
        let habits = |text: &str| {
            let reading = Reading::of(&given.model, &given.tokenizer, text).unwrap();
            pollster::block_on(reading.habits(&given.model)).unwrap()
        };
        let found = habits(&expected.text);
        assert_eq!((found.tokens, found.layers, found.heads), (23, 2, 4));
        for (at, expected) in HeadAt::all((2, 4)).into_iter().zip(expected.habits.concat()) {
            let Statistics { entropy, distance, first, previous } = found.of(at).unwrap();
            assert_near(&[entropy, distance, first, previous], expected, 1e-4);
        }
        assert_eq!(found.of(HeadAt { layer: 3, head: 1 }), None);
        // A token alone has nothing to choose from.
        assert_eq!((habits("Q").tokens, habits("Q").of(HeadAt { layer: 1, head: 1 })), (1, None));
    }

    #[test]
    fn positions_are_as_alike() {
        let (given, expected) = (opened(FILE, &beside()), expected());
        let alike = pollster::block_on(unroll_model::positions(&given.model)).unwrap();
        assert_eq!(alike.positions, (0..96).step_by(2).collect::<Vec<_>>());
        assert_eq!(alike.cosines.shape, [48, 48]);
        assert_near(&alike.cosines.values, expected.cosines.concat(), 1e-5);
    }

    #[test]
    fn heads_look_at_the_same_places() {
        let (given, expected) = (opened(FILE, &beside()), expected());
        let (model, tokenizer) = (&given.model, &given.tokenizer);
        let scores = unroll_model::head_scores_on(model, tokenizer, &expected.half);
        let scores = pollster::block_on(scores).unwrap();
        assert_eq!((scores.repeated, scores.scores.shape.as_slice()), (12, [5, 2, 4].as_slice()));
        let jobs = HEAD_JOBS.iter().flat_map(|job| expected.scores[*job].concat());
        assert_near(&scores.scores.values, jobs, 1e-5);
        assert_near(&scores.losses, expected.losses, 1e-4);
        let drawn = |seed| pollster::block_on(unroll_model::head_scores(model, tokenizer, seed));
        assert_eq!(drawn(1).unwrap().repeated, 32);
        assert_eq!(drawn(1), drawn(1));
        assert_ne!(drawn(1), drawn(2));
    }

    #[test]
    fn one_texts_stream_does_the_same_in_another() {
        let (given, expected) = (opened(FILE, &beside()), expected());
        let patch = |from: &str, into: &str, depth| {
            let patch = unroll_model::patch(&given.model, &given.tokenizer, [from, into], depth);
            pollster::block_on(patch)
        };
        for (depth, shares) in (0..).zip(expected.patched) {
            let found = patch(&expected.text, &expected.other, depth).unwrap();
            assert_near(&found.patched, shares, 1e-6);
            assert_eq!(found.tokens[0].len(), 23);
        }
        // In itself nothing changes.
        let same = patch(&expected.text, &expected.text, 1).unwrap();
        assert!(same.patched.iter().all(|share| (share - same.shares[0]).abs() < 1e-6));
        assert_eq!((same.best[0].clone(), same.shares[0]), (same.best[1].clone(), same.shares[1]));
        let refused = |from: &str, into: &str, depth| patch(from, into, depth).unwrap_err();
        assert_eq!(refused("", "a", 0), PatchError::Empty);
        assert_eq!(refused("QQ", "Q", 0), PatchError::Lengths([2, 1]));
        assert_eq!(refused("Q", "X", 3), PatchError::Depth);
        let long = "Q".repeat(33);
        assert_eq!(refused(&long, &long, 0), PatchError::TooLong { tokens: 33 });
    }

    #[test]
    fn it_writes_the_same_text() {
        let (given, expected) = (opened(FILE, &beside()), expected());
        let sampling = Sampling { top_k: 1, ..Sampling::PLAIN };
        let length = expected.greedy.len() as u32;
        let place = Place::Lab;
        let sample = SampleSpec { prompt: expected.text, length, sampling, seed: 1, place };
        let mut generator =
            Generator::new(&given.tokenizer, &sample, given.model.context()).unwrap();
        while !generator.is_done() {
            pollster::block_on(generator.advance(&given.model)).unwrap();
        }
        assert_eq!(generator.text(), expected.written.trim_end_matches('\u{fffd}'));
        let labels = expected.greedy.iter().map(|id| given.tokenizer.label(*id));
        assert_eq!(generator.tokens(), labels.collect::<Vec<_>>());
    }

    /// The same at GPT-2's shapes, of which no file is kept here: `tests/peers/opened.py` makes one, in the folder
    /// that UNROLL_GPT2 names, and says what it computes.
    #[test]
    #[ignore = "its files take 500 MB: see docs/benchmarks.md"]
    fn gpt2s_shapes_compute_what_transformers_does() {
        let folder = std::env::var_os("UNROLL_GPT2").map(std::path::PathBuf::from);
        let folder = folder.expect("UNROLL_GPT2 names a folder");
        let read = |name: &str| std::fs::read(folder.join(name)).expect(name);
        let given = {
            let (file, config) = (read("model.safetensors"), read("config.json"));
            let text = String::from_utf8(read("tokenizer.json")).unwrap();
            let tokenizer = vec![TokenizerFile { name: "tokenizer.json".into(), text }];
            let config = serde_json::from_slice(&config).ok();
            opened(&file, &Beside { config, tokenizer, ..Beside::default() })
        };
        let bytes = read("expected.safetensors");
        let (_, metadata) = safetensors::SafeTensors::read_metadata(&bytes).unwrap();
        let text = &metadata.metadata().as_ref().unwrap()["text"];
        let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        let numbers = |name: &str| {
            let data = file.tensor(name).unwrap().data().to_vec();
            data.as_chunks::<4>().0.to_vec()
        };
        let whole = |name: &str| -> Vec<u32> {
            numbers(name).into_iter().map(u32::from_le_bytes).collect()
        };
        let (ids, greedy) = (whole("ids"), whole("greedy"));
        assert_eq!((given.tokenizer.encode(text), ids.len(), greedy.len()), (ids.clone(), 64, 50));
        let expected: Vec<f32> = numbers("logits").into_iter().map(f32::from_le_bytes).collect();
        let found = logits(&given, &ids);
        let apart = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        println!("{} logits differ by {apart:.1e} at most", found.len());
        assert_near(&found, expected, 1e-3);
        let (prompt, place) = (text.clone(), Place::Lab);
        let sample = SampleSpec { prompt, length: 50, sampling: Sampling::GREEDY, seed: 1, place };
        let mut generator =
            Generator::new(&given.tokenizer, &sample, given.model.context()).unwrap();
        while !generator.is_done() {
            pollster::block_on(generator.advance(&given.model)).unwrap();
        }
        let labels = greedy.iter().map(|id| given.tokenizer.label(*id));
        assert_eq!(generator.tokens(), labels.collect::<Vec<_>>());
        println!("the same {} tokens are written", greedy.len());
    }

    #[test]
    fn an_output_layer_of_its_own_arrives_too() {
        // The file's embedding once more, as the output layer, but for its first row.
        let length = head_length(FILE, FILE.len() as u64).unwrap() as usize;
        let head: Value = serde_json::from_slice(&FILE[8..8 + length]).unwrap();
        let at = |end: usize| head["transformer.wte.weight"]["data_offsets"][end].as_u64().unwrap();
        let mut copy = FILE[8 + length..][at(0) as usize..at(1) as usize].to_vec();
        copy[..96].fill(0);
        let body = FILE.len() - 8 - length;
        let info =
            json!({"dtype": "F16", "shape": [300, 48], "data_offsets": [body, body + copy.len()]});
        let file = with_head(|head| head["lm_head.weight"] = info, &copy);
        let mut beside = beside();
        beside.config.as_mut().unwrap()["tie_word_embeddings"] = false.into();
        let (tied, untied) = (opened(FILE, &beside), opened(&file, &beside));
        let (tied, untied) = (logits(&tied, &[5, 7, 9]), logits(&untied, &[5, 7, 9]));
        for (tied, untied) in tied.chunks(300).zip(untied.chunks(300)) {
            assert_eq!(untied[0], 0.0);
            let pairs = tied[1..].iter().zip(&untied[1..]);
            assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-5));
        }
    }

    #[test]
    fn a_file_of_8_gb_is_refused_for_its_size() {
        assert_eq!(head_length(FILE, 8 << 30), Err(Refusal::Huge));
    }

    #[test]
    fn wrong_files_are_refused() {
        let refused =
            |file: &[u8], beside: &Beside| arriving(file, beside).err().unwrap().to_string();
        assert_eq!(refused(&FILE[..FILE.len() - 1], &beside()), Refusal::Truncated.to_string());
        let renamed = with_head(
            |head| {
                let tensor = head["transformer.h.1.mlp.c_fc.weight"].take();
                head.as_object_mut().unwrap().remove("transformer.h.1.mlp.c_fc.weight");
                head["transformer.h.1.mlp.up.weight"] = tensor;
            },
            &[],
        );
        assert!(refused(&renamed, &beside()).contains("transformer.h.1.mlp.c_fc.weight"));
        let other =
            with_head(|head| head["transformer.wte.weight"]["shape"] = json!([150, 96]), &[]);
        assert!(!refused(&other, &beside()).is_empty());
        let mut large = beside();
        large.config.as_mut().unwrap()["n_head"] = 5.into();
        assert!(refused(FILE, &large).contains("5 heads"));
        let mut odd = beside();
        odd.config.as_mut().unwrap()["activation_function"] = "silu".into();
        assert!(refused(FILE, &odd).contains("silu"));
    }

    #[test]
    fn a_model_of_another_form_is_refused_by_its_name() {
        let refused = |file: &[u8], beside: &Beside| arriving(file, beside).err();
        let named = |name: &str| Some(Refusal::Foreign(name.to_owned()));
        let told = |config: Value| refused(FILE, &Beside { config: Some(config), ..beside() });
        assert_eq!(told(json!({"model_type": "gpt_neo"})), named("“gpt_neo”"));
        let architectures = json!({"architectures": ["LlamaForCausalLM"]});
        assert_eq!(told(architectures), named("“LlamaForCausalLM”"));
        assert_eq!(told(json!({"architectures": ["GPT2LMHeadModel"]})), None);
        // Without a config.json by its tensors' names, each of which is one of GPT-2's here.
        for (before, name, form) in [
            ("transformer.wte.weight", "model.layers.0.mlp.up_proj.weight", "Llama"),
            ("transformer.wte.weight", "gpt_neox.embed_in.weight", "GPT-NeoX"),
            ("transformer.h.0.attn.c_attn.weight", "h.0.attn.attention.q_proj.weight", "GPT-Neo"),
        ] {
            let change = |head: &mut Value| {
                let tensor = head.as_object_mut().unwrap().remove(before).unwrap();
                head[name] = tensor;
            };
            let bare = Beside { config: None, ..beside() };
            assert_eq!(refused(&with_head(change, &[]), &bare), named(form));
        }
    }
}
