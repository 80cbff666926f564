//! A model out of a safetensors file: one that this page wrote, or any of GPT-2's form.

mod foreign;
mod head;
mod numbers;
#[cfg(test)]
mod pytorch;
mod refusal;
#[cfg(test)]
mod samples;
mod vocabulary;

use core::ops::Range;

use serde_json::Value;
use unroll_model_file::{BYTE_TOKENS, PREFIX, Place, Tensor, places, tensors};
use unroll_protocol::{
    Array, Checkpoint, ExperimentSpec, GptSpec, Limits, Link, TokenizerFile, Tokens,
    checkpoint::SavedParameter,
    link::Corpus,
    spec::{MAX_PARAMETERS, MAX_VOCABULARY},
};

use self::vocabulary::{by_id, order};
pub use self::{
    foreign::{foreign, of_our_form},
    head::{About, Infos, PREAMBLE, head_length, infos, metadata, readable},
    numbers::{Need, needs},
    refusal::Refusal,
};

/// What was chosen together with the file, and what the page has.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// transformers' `config.json`.
    pub config: Option<Value>,
    /// transformers' `vocab.json`: ids by token.
    pub vocabulary: Option<Value>,
    /// Heads of the page's present model.
    pub heads: u32,
    /// Tokens of the page's present text, by id.
    pub present: Vec<String>,
    /// What may belong to the tokenizer of a model that reads more than single characters.
    pub tokenizer: Vec<TokenizerFile>,
}

/// A file that is being read.
pub struct Incoming {
    /// Its text is the learner's own where the file does not say what the model learned.
    pub link: Link,
    /// What the learner should know about how it was understood.
    pub notes: Vec<String>,
    /// The name of the text that the model learned; empty where the file does not say.
    pub text: String,
    spec: ExperimentSpec,
    step: u32,
    places: Vec<Place>,
    tensors: Vec<Tensor>,
    needs: Vec<Need>,
    /// The file's token in place of each of ours.
    order: Vec<usize>,
    vocabulary: Vec<char>,
    /// See [`Checkpoint::merges`].
    merges: Vec<u32>,
    parameters: Vec<SavedParameter>,
}

impl Incoming {
    /// Understands the head of a file of so many bytes. `settings` reads the settings of a link.
    pub fn new(
        head: &[u8],
        file: u64,
        beside: &Beside,
        settings: impl Fn(&str) -> Link,
    ) -> Result<Self, Refusal> {
        let (metadata, begins) = metadata(head, file)?;
        let about = About::new(&metadata);
        let mut notes = Vec::new();
        let infos = infos(&metadata);
        let config = beside.config.as_ref().or(about.config.as_ref());
        if about.unroll.is_none() {
            of_our_form(config, &infos)?;
        }
        let vocabulary = infos.get(&format!("{PREFIX}wte.weight")).ok_or(Refusal::NoModel)?;
        let count = vocabulary.shape.first().copied().unwrap_or_default();
        let own = about.unroll.as_ref().and_then(|unroll| {
            let link = settings(unroll.get("settings")?.as_str()?);
            let rate = unroll.get("learning_rate").and_then(Value::as_f64);
            let step = unroll.get("step").and_then(Value::as_u64);
            // Files of earlier releases hold models that read single characters, and no merges.
            let merges = unroll.get("merges").and_then(Value::as_array);
            let merges = merges.into_iter().flatten();
            let merges = merges.map(|id| id.as_u64()?.try_into().ok()).collect::<Option<_>>()?;
            Some((link, rate, u32::try_from(step?).ok()?, merges))
        });
        let (mut link, rate, step, merges): (_, _, _, Vec<u32>) = match own {
            Some(own) => own,
            None => {
                let GptSpec { layers, heads, width, context, tied, architecture, .. } =
                    foreign(&infos, config, beside, &mut notes)?;
                let mut link = Link { corpus: Corpus::Own, ..Link::default() };
                let gpt = &mut link.gpt;
                (gpt.layers, gpt.heads, gpt.width) = (layers, heads, width);
                (gpt.context, gpt.tied, gpt.architecture) = (context, tied, architecture);
                // Said before anything else, for it is the usual reason.
                if count > MAX_VOCABULARY {
                    return Err(Refusal::NoVocabulary { tokens: count });
                }
                let parameters = u64::from(layers).saturating_mul(12 * u64::from(width).pow(2));
                if parameters > MAX_PARAMETERS {
                    return Err(Refusal::TooLarge { parameters });
                }
                (link, None, 0, Vec::new())
            }
        };
        // What the settings can't say can't be shown either.
        if settings(&link.query()).experiment() != link.experiment() {
            return Err(Refusal::Settings);
        }
        // It may have been changed since its settings were written.
        if let Some(rate) = rate {
            link.gpt.learning_rate = rate as f32;
        }
        let spec = link.experiment();
        spec.validate(&Limits::TAB).map_err(Refusal::Spec)?;
        let said = about.unroll.as_ref().and_then(|unroll| unroll.get("text")?.as_str());
        let text = said.unwrap_or_default().to_owned();
        let parameters = spec.gpt.parameter_count(count);
        if parameters > MAX_PARAMETERS {
            return Err(Refusal::TooLarge { parameters });
        }
        let places = places(&spec.gpt, count);
        let tensors = tensors(&places);
        let needs = needs(&infos, &tensors, begins, spec.gpt.tied)?;
        let named = beside.vocabulary.as_ref().or(about.vocabulary.as_ref());
        let tokens = match named {
            _ if spec.tokens != Tokens::Characters => Vec::new(),
            Some(named) => by_id(named, count)?,
            None if beside.present.len() == count => {
                notes.push(
                    "The file does not say which characters its tokens are. They are taken to be \
                     those of the text on this page, in the order of their codes."
                        .to_owned(),
                );
                beside.present.clone()
            }
            None => return Err(Refusal::NoVocabulary { tokens: count }),
        };
        let (order, vocabulary) = match spec.tokens {
            Tokens::Characters => order(&tokens)?,
            _ if count == BYTE_TOKENS + merges.len() / 2 => ((0..count).collect(), Vec::new()),
            _ => return Err(Refusal::NoVocabulary { tokens: count }),
        };
        let parameters = places.iter().map(|place| SavedParameter {
            name: place.parameter.clone(),
            value: Array {
                shape: place.shape.iter().map(|&size| size as u32).collect(),
                values: Vec::new(),
            },
            first_moment: vec![0.0; place.count()],
            second_moment: vec![0.0; place.count()],
        });
        let parameters = parameters.collect();
        Ok(Self {
            link,
            notes,
            text,
            spec,
            step,
            places,
            tensors,
            needs,
            order,
            vocabulary,
            merges,
            parameters,
        })
    }

    /// The same without what the optimizer kept: the model is looked at, not trained.
    pub fn without_optimizer(mut self) -> Self {
        self.needs.retain(Need::is_parameter);
        for saved in &mut self.parameters {
            (saved.first_moment, saved.second_moment) = (Vec::new(), Vec::new());
        }
        self
    }

    /// Whether a text has characters that the model does not know.
    pub fn lacks_some_of(&self, text: &str) -> bool {
        self.spec.tokens == Tokens::Characters
            && text.chars().any(|character| self.vocabulary.binary_search(&character).is_err())
    }

    /// How many parameters the model has.
    pub fn parameters(&self) -> u64 {
        self.places.iter().map(|place| place.count() as u64).sum()
    }

    /// What has to be read, as ranges of the file's bytes.
    pub fn ranges(&self) -> Vec<Range<u64>> {
        Need::ranges(&self.needs)
    }

    /// Takes the bytes of the range with this number.
    pub fn take(&mut self, number: usize, bytes: &[u8]) -> Result<(), Refusal> {
        let values = self.needs[number].numbers(bytes)?;
        if !values.iter().all(|value| value.is_finite()) {
            return Err(Refusal::NotFinite);
        }
        for &at in &self.tensors[self.needs[number].place].parameters {
            let place = &self.places[at];
            let values = self.in_our_order(place, place.take(&values));
            *self.needs[number].of(&mut self.parameters[at]) = values;
        }
        Ok(())
    }

    /// Values whose tokens are in the order of the file, in ours.
    fn in_our_order(&self, place: &Place, values: Vec<f32>) -> Vec<f32> {
        let is_ours = self.order.iter().enumerate().all(|(ours, theirs)| ours == *theirs);
        let (Some(axis), false) = (place.tokens, is_ours) else { return values };
        let columns = place.shape[1];
        let from = |at: usize| match axis {
            0 => self.order[at / columns] * columns + at % columns,
            _ => at / columns * columns + self.order[at % columns],
        };
        (0..values.len()).map(|at| values[from(at)]).collect()
    }

    /// The model, once all ranges were taken.
    pub fn checkpoint(self) -> Checkpoint {
        let Self { spec, step, vocabulary, merges, parameters, .. } = self;
        Checkpoint { spec, step, vocabulary, merges, parameters }
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;
    use safetensors::{
        Dtype,
        tensor::{Metadata, TensorInfo},
    };
    use unroll_model::{Slice, Trainer};
    use unroll_model_file::vocabulary_size;
    use unroll_protocol::{
        TokenKind,
        architecture::{Activation, MaskKind, NormKind, NormPlacement, Positions},
    };

    use super::{
        samples::{TEXT, changed, file, opened, read, settings, small, trained},
        *,
    };

    #[test]
    fn every_form_of_model_comes_back_bit_for_bit() {
        let with = |change: &dyn Fn(&mut Link)| {
            let mut link = small();
            change(&mut link);
            link
        };
        let forms = [
            small(),
            with(&|link| link.gpt.tied = true),
            with(&|link| link.gpt.architecture.positions = Positions::Rotary),
            with(&|link| link.gpt.architecture.norm = NormPlacement::Post),
            with(&|link| link.gpt.architecture.norm = NormPlacement::None),
            with(&|link| link.gpt.architecture.norm_kind = NormKind::Rms),
            with(&|link| link.gpt.architecture.mask = MaskKind::Band),
            with(&|link| link.gpt.architecture.feed_forward = Some(Activation::Solu)),
            with(&|link| link.gpt.tokens = TokenKind::Bytes),
            with(&|link| (link.gpt.tokens, link.gpt.merges) = (TokenKind::Pairs, 40)),
            with(&|link| {
                link.gpt.optimizer = unroll_protocol::OptimizerKind::Muon;
                link.gpt.initialization = unroll_protocol::Initialization::Xavier;
            }),
        ];
        for link in forms {
            let mut checkpoint = trained(&link, 3);
            // As it is once the learner has moved the slider.
            checkpoint.spec.optimizer.learning_rate = 0.0012;
            assert_eq!(opened(&file(&checkpoint, &link, true)).unwrap(), checkpoint);
            let bare = opened(&file(&checkpoint, &link, false)).unwrap();
            for (bare, whole) in bare.parameters.iter().zip(&checkpoint.parameters) {
                assert_eq!((&bare.name, &bare.value), (&whole.name, &whole.value));
                assert!(bare.first_moment.iter().all(|moment| *moment == 0.0));
            }
        }
    }

    #[test]
    fn training_goes_on_from_a_file_as_if_it_had_never_been_saved() {
        let link = small();
        let on = |checkpoint: &Checkpoint| {
            let text = TEXT.repeat(8);
            let mut trainer = Trainer::from_checkpoint(checkpoint, &text, &Device::flex()).unwrap();
            for _ in 0..3 {
                while !matches!(trainer.advance(), Slice::Gradients(_)) {}
                trainer.apply();
            }
            pollster::block_on(trainer.checkpoint()).unwrap()
        };
        let checkpoint = trained(&link, 4);
        assert_eq!(on(&opened(&file(&checkpoint, &link, true)).unwrap()), on(&checkpoint));
        assert_eq!(on(&checkpoint), trained(&link, 7));
    }

    #[test]
    fn numbers_that_are_not_finite_are_refused() {
        let link = small();
        let whole = trained(&link, 1);
        for value in [f32::NAN, f32::INFINITY] {
            let mut broken = [whole.clone(), whole.clone()];
            broken[0].parameters[1].value.values[3] = value;
            broken[1].parameters[1].second_moment[3] = value;
            for broken in broken {
                assert_eq!(opened(&file(&broken, &link, true)), Err(Refusal::NotFinite));
            }
        }
    }

    #[test]
    fn the_learning_rate_is_that_of_the_last_step() {
        let link = small();
        let mut later = trained(&link, 1);
        later.spec.optimizer.learning_rate = 0.001;
        let (checkpoint, found, _) = read(&file(&later, &link, true), &Beside::default()).unwrap();
        assert_eq!((checkpoint.spec, found.gpt.learning_rate), (later.spec, 0.001));
    }

    #[test]
    fn a_model_too_large_is_refused_before_its_numbers_are_read() {
        // GPT-2's own head, with no numbers behind it: without its tokenizer nobody can read with it. And
        // one of its size that reads characters.
        for (vocabulary, reason) in [(50_257, "tokenizer.json"), (65, "million parameters")] {
            let mut infos: Vec<(String, TensorInfo)> = Vec::new();
            let mut at = 0;
            let spec = settings("layers=12&heads=12&context=64").experiment().gpt;
            let spec = GptSpec { width: 768, context: 1024, tied: true, ..spec };
            for tensor in tensors(&places(&spec, vocabulary)) {
                let end = at + 4 * tensor.shape.iter().product::<usize>();
                let info =
                    TensorInfo { dtype: Dtype::F32, shape: tensor.shape, data_offsets: (at, end) };
                infos.push((tensor.name, info));
                at = end;
            }
            let head = serde_json::to_vec(&Metadata::new(None, infos).unwrap()).unwrap();
            let file = PREAMBLE + (head.len() + at) as u64;
            let refusal = Incoming::new(&head, file, &Beside::default(), settings).err().unwrap();
            assert!(refusal.to_string().contains(reason), "{refusal}");
        }
    }

    /// Files whose merges are not those of their tokens are refused, here or by the engine.
    #[test]
    fn wrong_merges_are_refused() {
        let mut link = small();
        (link.gpt.tokens, link.gpt.merges) = (TokenKind::Pairs, 40);
        let checkpoint = trained(&link, 1);
        assert!(checkpoint.merges.len() > 20);
        let whole = file(&checkpoint, &link, false);
        let with = |merges: &str| {
            let start = format!("\\\"merges\\\":[{},", checkpoint.merges[0]);
            changed(&whole, |head| {
                assert_eq!(head.matches(&start).count(), 1);
                head.replacen(&start, merges, 1)
            })
        };
        let few = opened(&with("\\\"merges\\\":[1,2,3],\\\"others\\\":[1,"));
        assert_eq!(few, Err(Refusal::NoVocabulary { tokens: vocabulary_size(&checkpoint) }));
        for wrong in ["-1", "1.5", "1e30", "null"] {
            let found = opened(&with(&format!("\\\"merges\\\":[{wrong},")));
            assert!(found.is_err(), "{wrong}");
        }
        // A merge of what is no token yet.
        let odd = opened(&with("\\\"merges\\\":[700,")).unwrap();
        assert!(Trainer::from_checkpoint(&odd, &TEXT.repeat(8), &Device::flex()).is_err());
    }
}
