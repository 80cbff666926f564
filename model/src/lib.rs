//! Sequence models small enough to train while you watch, and everything a training run needs.
//!
//! The crate behaves the same natively and in a browser, on any burn
//! [`Device`](burn::tensor::Device). WebGPU allows no blocking calls, so nothing here blocks:
//! results stay in tensors until [`read_all`] awaits them. All randomness is drawn on the host, so
//! that a seed means the same numbers on every device.
//!
//! Long work is divided into slices, because a Web Worker has one thread and must answer messages
//! in between: see [`Trainer::advance`], [`Evaluation::advance`] and [`Generator`].

mod attention;
mod batch;
mod block;
mod bpe;
mod clock;
mod data;
mod decode;
mod deviations;
mod dropout;
mod feed_forward;
mod fused;
mod given;
mod gpt;
mod inside;
mod loss;
mod norm;
mod optimizer;
mod parameters;
mod pass;
mod position;
mod random;
mod read;
mod reading;
mod recurrent;
mod sample;
mod self_check;
mod seq2seq;
mod study;
mod tasks;
mod tokenizer;
mod trace;
mod training;

pub use attention::{
    Attention, AttentionConfig, AttentionRules, AttentionTrace, EmptyRow, Mask, RowError,
    attention_row, head_statistics,
};
pub use batch::next_batch;
pub use block::{Block, BlockConfig, LayerTrace};
pub use bpe::{BpeLearner, Pair};
pub use clock::set_clock;
pub use data::{Batch, DataError, Dataset, Window, token_tensor};
pub use decode::{after, cached, race, surprise, tree};
pub use dropout::Dropout;
pub use feed_forward::{FeedForward, FeedForwardConfig, activate};
pub use fused::gelu;
pub use given::{Filling, Given, GivenError};
pub use gpt::{Gpt, GptConfig, GptRow, GptTrace, KeysAndValues};
pub use inside::{PatchError, head_scores, head_scores_on, patch, positions};
pub use loss::{cross_entropy, cross_entropy_each, masked_accuracy, masked_cross_entropy};
pub use norm::{
    BatchNorm, BatchOfOne, LayerNorm, NORM_EPSILON, Norm, NormTrace, RunningStatistics,
};
pub use optimizer::{Moments, Optimizer, clip_coefficient, global_norm};
pub use parameters::{GradientSum, Named, named_parameters, parameter_count, read_parameters};
pub use pass::pass;
pub use position::{Rotation, added, alibi_slopes, frequency, shift, sinusoidal};
pub use read::{ReadError, read_all};
pub use recurrent::{
    Activation, Cell, CellConfig, CellKind, Contributions, Force, ForceError, Gate, GateTrace,
    Initialization, LayerStates, RadiusError, Recurrent, RecurrentConfig, RecurrentGradients,
    RecurrentLayer, RecurrentLayerTrace, RecurrentOutput, RecurrentTrace, RunOptions,
    SequenceConfig, SequenceInput, SequenceModel, SequenceOutput, SequenceTrace, State,
    norm_per_step, rescale_to_radius, spectral_radius,
};
pub use sample::{Generator, SampleError};
pub use self_check::{SelfCheckError, self_check};
pub use seq2seq::{
    AlignmentLayer, AlignmentTrace, DecoderState, Encoded, Hypothesis, Seq2seq, Seq2seqConfig,
    Seq2seqTrace, Source,
};
pub use study::{AnyStudy, Built, Holder, Moment, Refusal, Study, StudySlice};
pub use tasks::{
    BatchTensors, Brackets, END, FillIn, LookAhead, NthSymbol, PairBatch, PairTensors, Pairs,
    Quotes, Recall, SequenceBatch, Split, Task, TaskError, TextPair,
};
pub use tokenizer::{
    CharTokenizer, GivenTokens, NoTokenizer, Sentence, Tokenizer, UNKNOWN, VocabularyError,
};
pub use trace::{Reading, TraceError, inspect, keep_likeliest, trace};
pub use training::{
    BuildError, CheckpointError, Evaluation, EvaluationSlice, Shard, ShardPass, ShardSlice, Slice,
    Snapshot, StepGradients, Trainer,
};
