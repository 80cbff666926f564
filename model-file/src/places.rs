//! Which tensor of a model file holds which parameter.
//!
//! The names and layouts are those that Hugging Face's transformers writes for GPT-2
//! (`GPT2LMHeadModel`): there a linear layer is a `Conv1D`, whose weight is `[in, out]`, and queries,
//! keys and values are one layer, `c_attn`. A model of another form uses the same names as far as it has
//! the parts, and none for what it lacks.

use unroll_protocol::{
    Architecture, GptSpec,
    architecture::{NormPlacement, Positions},
};

/// What stands before all names but the head's. Files from elsewhere may leave it out.
pub const PREFIX: &str = "transformer.";
/// The name of the output layer's weight, where that is not the token embedding's.
pub const LM_HEAD: &str = "lm_head.weight";

const QUERIES: Layout = Layout::Third(0);
const KEYS: Layout = Layout::Third(1);
const VALUES: Layout = Layout::Third(2);

/// How a parameter lies in its tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// The tensor is the parameter.
    Whole,
    /// The tensor is the parameter's transpose.
    Transposed,
    /// The tensor has three parts side by side along its last axis: for queries (0), keys (1) and values
    /// (2). This one is the parameter.
    Third(usize),
}

/// Where a parameter is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The parameter's path in the model, as in a checkpoint.
    pub parameter: String,
    /// The parameter's shape: `[in, out]` for the weight of a linear layer.
    pub shape: Vec<usize>,
    /// The tensor's name: with [`PREFIX`], unless it is [`LM_HEAD`].
    pub tensor: String,
    pub layout: Layout,
    /// The axis that runs over the vocabulary, if one does.
    pub tokens: Option<usize>,
}

impl Place {
    /// The whole tensor's shape.
    pub fn tensor_shape(&self) -> Vec<usize> {
        let mut shape = self.shape.clone();
        match self.layout {
            Layout::Whole => {}
            Layout::Transposed => shape.reverse(),
            Layout::Third(_) => *shape.last_mut().expect("no parameter is a single number") *= 3,
        }
        shape
    }

    /// Number of values of the parameter.
    pub fn count(&self) -> usize {
        self.shape.iter().product()
    }

    /// Writes the parameter's values to where they lie among the tensor's. Panics where either are too few.
    pub fn put(&self, values: &[f32], tensor: &mut [f32]) {
        self.each(|inside, outside| tensor[outside] = values[inside]);
    }

    /// The parameter's values, out of the tensor's. Panics where those are too few.
    pub fn take(&self, tensor: &[f32]) -> Vec<f32> {
        let mut values = vec![0.0; self.count()];
        self.each(|inside, outside| values[inside] = tensor[outside]);
        values
    }

    /// Calls `with` for each value with its index in the parameter and in the tensor.
    fn each(&self, mut with: impl FnMut(usize, usize)) {
        let columns = self.shape.last().copied().unwrap_or(1);
        let rows = self.count() / columns.max(1);
        for row in 0..rows {
            for column in 0..columns {
                let outside = match self.layout {
                    Layout::Whole => row * columns + column,
                    Layout::Transposed => column * rows + row,
                    Layout::Third(part) => (3 * row + part) * columns + column,
                };
                with(row * columns + column, outside);
            }
        }
    }
}

/// Places, one after the other.
#[derive(Default)]
struct List(Vec<Place>);

impl List {
    fn add(&mut self, parameter: String, shape: &[usize], tensor: String, layout: Layout) {
        let (shape, tensor) = (shape.to_vec(), format!("{PREFIX}{tensor}"));
        self.0.push(Place { parameter, shape, tensor, layout, tokens: None });
    }

    fn norm(&mut self, parameter: String, spec: &GptSpec, tensor: String) {
        let (width, kind) = (spec.width as usize, spec.architecture.norm_kind);
        let parts = [("gamma", "weight"), ("beta", "bias")];
        for (part, other) in parts.into_iter().take(kind.parameters() as usize) {
            let (parameter, tensor) = (format!("{parameter}.{part}"), format!("{tensor}.{other}"));
            self.add(parameter, &[width], tensor, Layout::Whole);
        }
    }

    fn linear(&mut self, parameter: String, shape: [usize; 2], tensor: String, layout: Layout) {
        let [weight, bias] = ["weight", "bias"].map(|part| format!("{tensor}.{part}"));
        self.add(format!("{parameter}.weight"), &shape, weight, layout);
        // Softmax cancels key biases, so the model has none. In a file they are 0.
        if layout != KEYS {
            self.add(format!("{parameter}.bias"), &shape[1..], bias, layout);
        }
    }

    fn block(&mut self, spec: &GptSpec, block: u32) {
        let width = spec.width as usize;
        let Architecture { norm, attention, feed_forward, .. } = spec.architecture;
        let is_normed = norm != NormPlacement::None;
        let ours = |name: &str| format!("blocks.{block}.{name}");
        let theirs = |name: &str| format!("h.{block}.{name}");
        if attention && is_normed {
            self.norm(ours("attention_norm"), spec, theirs("ln_1"));
        }
        if attention {
            let shape = [width, width];
            for (name, layout) in [("query", QUERIES), ("key", KEYS), ("value", VALUES)] {
                let parameter = ours(&format!("attention.{name}"));
                self.linear(parameter, shape, theirs("attn.c_attn"), layout);
            }
            self.linear(ours("attention.output"), shape, theirs("attn.c_proj"), Layout::Whole);
        }
        if feed_forward.is_some() && is_normed {
            self.norm(ours("feed_forward_norm"), spec, theirs("ln_2"));
        }
        if feed_forward.is_some() {
            let (up, down) = ([width, 4 * width], [4 * width, width]);
            self.linear(ours("feed_forward.hidden"), up, theirs("mlp.c_fc"), Layout::Whole);
            self.linear(ours("feed_forward.output"), down, theirs("mlp.c_proj"), Layout::Whole);
        }
    }
}

/// Where all parameters of a model with so many tokens are found, in the model's own order.
pub fn places(spec: &GptSpec, vocabulary: usize) -> Vec<Place> {
    let (width, context) = (spec.width as usize, spec.context as usize);
    let mut list = List::default();
    let [tokens, positions] = [[vocabulary, width], [context, width]];
    list.add("token_embedding.weight".into(), &tokens, "wte.weight".into(), Layout::Whole);
    list.0[0].tokens = Some(0);
    if spec.architecture.positions == Positions::Learned {
        list.add(
            "position_embedding.weight".into(),
            &positions,
            "wpe.weight".into(),
            Layout::Whole,
        );
    }
    for block in 0..spec.layers {
        list.block(spec, block);
    }
    if spec.architecture.norm == NormPlacement::Pre {
        list.norm("final_norm".into(), spec, "ln_f".into());
    }
    if !spec.tied {
        list.0.push(Place {
            parameter: "head.weight".into(),
            shape: vec![width, vocabulary],
            tensor: LM_HEAD.into(),
            layout: Layout::Transposed,
            tokens: Some(1),
        });
    }
    list.0
}

/// A tensor of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// With [`PREFIX`], unless it is [`LM_HEAD`].
    pub name: String,
    pub shape: Vec<usize>,
    /// The parameters in it, as indices of their places.
    pub parameters: Vec<usize>,
}

impl Tensor {
    /// Its rows and columns; a vector is one row.
    pub fn rows(&self) -> [usize; 2] {
        match *self.shape {
            [rows, columns] => [rows, columns],
            _ => [1, self.shape.iter().product()],
        }
    }
}

/// The tensors that have these places, in the order of the file.
pub fn tensors(places: &[Place]) -> Vec<Tensor> {
    let mut tensors: Vec<Tensor> = Vec::new();
    for (number, place) in places.iter().enumerate() {
        match tensors.iter_mut().find(|tensor| tensor.name == place.tensor) {
            Some(tensor) => tensor.parameters.push(number),
            None => tensors.push(Tensor {
                name: place.tensor.clone(),
                shape: place.tensor_shape(),
                parameters: vec![number],
            }),
        }
    }
    tensors
}

#[cfg(test)]
mod tests {
    use unroll_protocol::{Link, architecture::NormKind};

    use super::*;

    #[test]
    fn gpt_2_has_its_tensors() {
        let mut spec = Link::default().experiment().gpt;
        (spec.layers, spec.width, spec.context, spec.tied) = (2, 8, 5, true);
        let tensors = tensors(&places(&spec, 7));
        let shapes: Vec<(&str, &[usize])> =
            tensors.iter().map(|tensor| (tensor.name.as_str(), tensor.shape.as_slice())).collect();
        // As `GPT2LMHeadModel(GPT2Config(vocab_size=7, n_positions=5, n_embd=8, n_layer=2)).state_dict()`.
        let expected: [(&str, &[usize]); 15] = [
            ("transformer.wte.weight", &[7, 8]),
            ("transformer.wpe.weight", &[5, 8]),
            ("transformer.h.0.ln_1.weight", &[8]),
            ("transformer.h.0.ln_1.bias", &[8]),
            ("transformer.h.0.attn.c_attn.weight", &[8, 24]),
            ("transformer.h.0.attn.c_attn.bias", &[24]),
            ("transformer.h.0.attn.c_proj.weight", &[8, 8]),
            ("transformer.h.0.attn.c_proj.bias", &[8]),
            ("transformer.h.0.ln_2.weight", &[8]),
            ("transformer.h.0.ln_2.bias", &[8]),
            ("transformer.h.0.mlp.c_fc.weight", &[8, 32]),
            ("transformer.h.0.mlp.c_fc.bias", &[32]),
            ("transformer.h.0.mlp.c_proj.weight", &[32, 8]),
            ("transformer.h.0.mlp.c_proj.bias", &[8]),
            ("transformer.h.1.ln_1.weight", &[8]),
        ];
        assert_eq!(shapes[..15], expected);
        assert_eq!(shapes.len(), 2 + 2 * 12 + 2);
        spec.tied = false;
        assert_eq!(super::tensors(&places(&spec, 7)).last().unwrap().shape, [7, 8]);
        // RMSNorm has no biases: two in each block, and the last one.
        spec.architecture.norm_kind = NormKind::Rms;
        let fewer = super::tensors(&places(&spec, 7));
        assert_eq!(fewer.len(), shapes.len() + 1 - 5);
        let is_bias = |tensor: &Tensor| tensor.name.contains("ln_") && tensor.name.contains("bias");
        assert!(!fewer.iter().any(is_bias));
    }

    #[test]
    fn what_is_put_into_a_tensor_is_taken_out_again() {
        let place = |layout| Place {
            parameter: "p".into(),
            shape: vec![2, 3],
            tensor: "t".into(),
            layout,
            tokens: None,
        };
        let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        for (layout, count) in [(Layout::Whole, 6), (Layout::Transposed, 6), (VALUES, 18)] {
            let mut tensor = vec![0.0; count];
            place(layout).put(&values, &mut tensor);
            assert_eq!(place(layout).take(&tensor), values);
            assert_eq!(place(layout).tensor_shape().iter().product::<usize>(), count);
        }
        let mut tensor = vec![0.0; 6];
        place(Layout::Transposed).put(&values, &mut tensor);
        assert_eq!(tensor, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        let mut tensor = vec![0.0; 18];
        place(KEYS).put(&values, &mut tensor);
        assert_eq!(tensor[..9], [0.0, 0.0, 0.0, 1.0, 2.0, 3.0, 0.0, 0.0, 0.0]);
    }
}
