//! The kernels against what they stand for: values and gradients.

use burn::tensor::{Device, Int, Tensor, TensorData};

use super::*;
use crate::recurrent::{Activation, Cell, CellConfig, CellKind, Initialization};
use crate::{
    random::{Normals, Purpose, stream},
    recurrent::{Force, Gate, Recurrent as Layers, RecurrentConfig, RunOptions, SequenceInput},
};
