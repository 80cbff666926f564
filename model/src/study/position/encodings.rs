//! The encodings themselves, apart from what models make of them. Computed in f64: an angle of
//! thousands of radians has only three decimals left in f32.

use core::f64::consts::{PI, TAU};

use burn::tensor::{Int, Tensor, TensorData};
use unroll_protocol::{
    Array,
    architecture::Positions,
    study::position::{
        COMPARED, CONTEXT, Clock, DRAWN, Encoding, FARTHEST, OFFSETS, Products, Spec, Swamping,
        TRIED,
    },
};

use super::{super::Refusal, models::Models, reading::symbol};
use crate::{
    gpt::Gpt,
    position::{alibi_slopes, frequency, shift, sinusoidal},
    read_all,
};

/// Distance of the second position at which products are compared.
const ELSEWHERE: u32 = 100;

/// The rows of learned positions, one vector each.
async fn learned(models: &Models) -> Result<Vec<Vec<f64>>, Refusal> {
    let model = models.get(Positions::Learned)?;
    let Some(embedding) = &model.position_embedding else { return Ok(Vec::new()) };
    let weight = embedding.weight.val().inner();
    let [rows, width] = weight.dims();
    let read = read_all([weight.reshape([rows * width])]).await?.concat();
    Ok(read.chunks(width).map(|row| row.iter().map(|&x| f64::from(x)).collect()).collect())
}

/// See [`Encoding`].
pub async fn encoding(
    models: &Models,
    spec: &Spec,
    positions: Positions,
) -> Result<Encoding, Refusal> {
    // Refuses widths that do not fit the encoding.
    models.get(positions)?;
    let (width, heads) = (spec.width as usize, spec.heads() as usize);
    let drawn =
        |of: &dyn Fn(usize) -> Vec<f64>| -> Vec<Vec<f64>> { (0..DRAWN as usize).map(of).collect() };
    let rows = match positions {
        Positions::None => drawn(&|_| vec![0.0; width]),
        Positions::Integer => drawn(&|p| integer(p as f64, width)),
        Positions::Sinusoidal => drawn(&|p| sinusoidal(p as f64, width)),
        Positions::Learned => {
            let rows = learned(models).await?;
            drawn(&|p| rows.get(p).cloned().unwrap_or_else(|| vec![f64::NAN; width]))
        }
        Positions::Rotary => {
            let head = width / heads;
            let angle = |p: usize, pair: usize| {
                let angle = (p as f64 * frequency(pair, head)).rem_euclid(TAU);
                if angle > PI { angle - TAU } else { angle }
            };
            drawn(&|p| (0..head / 2).map(|pair| angle(p, pair)).collect())
        }
        Positions::Alibi => {
            let slopes = alibi_slopes(heads);
            drawn(&|p| slopes.iter().map(|&slope| -f64::from(slope) * p as f64).collect())
        }
    };
    let columns = rows.first().map_or(0, Vec::len);
    let values = rows.concat().into_iter().map(|x| x as f32).collect();
    Ok(Encoding { positions, values: Array { shape: vec![DRAWN, columns as u32], values } })
}

/// The position itself in the first dimension.
fn integer(position: f64, width: usize) -> Vec<f64> {
    (0..width).map(|i| if i == 0 { position } else { 0.0 }).collect()
}

/// The largest distance between `M_k PE(p)` and `PE(p + k)` over all positions up to [`TRIED`],
/// where it occurs, and for which `k`.
#[derive(Clone, Copy)]
pub struct Farthest {
    k: u32,
    difference: f64,
    at: u32,
}

/// The encoding of `at`, its shift by `k`, and how exact `M_k` is at every position up to
/// [`TRIED`]; `known` is the last such result.
///
/// # Errors
///
/// A sentence for an odd width and for numbers beyond [`FARTHEST`].
pub fn clock(
    at: u32,
    k: u32,
    width: usize,
    known: &mut Option<Farthest>,
) -> Result<Clock, Refusal> {
    if !width.is_multiple_of(2) {
        return Err(Refusal(format!(
            "A hand is a pair of a sine and a cosine, and a width of {width} can't be split into \
             pairs: choose an even width."
        )));
    }
    if at > FARTHEST || k > FARTHEST {
        return Err(Refusal(format!(
            "Positions and shifts go up to {FARTHEST}: {} is beyond.",
            at.max(k)
        )));
    }
    let encoded = |position: u32| sinusoidal(f64::from(position), width);
    let moved = |position: u32| {
        let (turned, there) = (shift(&encoded(position), f64::from(k)), encoded(position + k));
        let apart = turned.iter().zip(&there).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        (turned, there, apart)
    };
    let (turned, there, difference) = moved(at);
    let try_all = || {
        let none = Farthest { k, difference: 0.0, at: 0 };
        let tried = (0..=TRIED).map(|at| Farthest { k, difference: moved(at).2, at });
        tried.fold(none, |most, now| if now.difference > most.difference { now } else { most })
    };
    let farthest = known.filter(|known| known.k == k).unwrap_or_else(try_all);
    *known = Some(farthest);
    // Column i of M_k is the image of unit vector i.
    let mut matrix = vec![0f32; width * width];
    for column in 0..width {
        let mut unit = vec![0.0; width];
        unit[column] = 1.0;
        for (row, value) in shift(&unit, f64::from(k)).into_iter().enumerate() {
            matrix[row * width + column] = value as f32;
        }
    }
    Ok(Clock {
        at,
        k,
        matrix: Array { shape: vec![width as u32; 2], values: matrix },
        frequencies: (0..width / 2).map(|pair| frequency(pair, width)).collect(),
        here: encoded(at),
        turned,
        there,
        difference,
        largest: farthest.difference,
        largest_at: farthest.at,
    })
}

/// See [`Products`].
///
/// # Errors
///
/// A sentence if no vectors are added, or if there is none for `at`.
pub async fn products(
    models: &Models,
    spec: &Spec,
    positions: Positions,
    at: u32,
) -> Result<Products, Refusal> {
    models.get(positions)?;
    let width = spec.width as usize;
    let rows = match positions {
        Positions::Learned => learned(models).await?,
        Positions::Sinusoidal | Positions::Integer => Vec::new(),
        Positions::None => {
            return Err(Refusal("Without positions there are no vectors to compare.".to_owned()));
        }
        Positions::Rotary => {
            return Err(Refusal(
                "Rotary positions add no vectors that could be compared: they turn queries and \
                 keys. See the scores."
                    .to_owned(),
            ));
        }
        Positions::Alibi => {
            return Err(Refusal(
                "ALiBi adds no vectors that could be compared: it lowers scores. See the scores."
                    .to_owned(),
            ));
        }
    };
    if positions == Positions::Learned && at as usize >= rows.len() {
        return Err(no_row(at));
    }
    let vector = |p: u32| match positions {
        Positions::Learned => rows.get(p as usize).cloned(),
        Positions::Integer => Some(integer(f64::from(p), width)),
        _ => Some(sinusoidal(f64::from(p), width)),
    };
    let other = match positions {
        Positions::Learned => CONTEXT - 1,
        _ => at.saturating_add(ELSEWHERE),
    };
    let mut from = vec![at, 0, other];
    from.dedup();
    let reach = OFFSETS as i32;
    let lines = from.into_iter().filter_map(|p| {
        let here = vector(p)?;
        let products = (-reach..=reach).filter_map(|offset| {
            let there = vector(p.checked_add_signed(offset)?)?;
            Some((offset, here.iter().zip(&there).map(|(a, b)| a * b).sum()))
        });
        Some((p, products.collect()))
    });
    Ok(Products { positions, lines: lines.collect() })
}

/// The refusal beyond the last learned position.
pub fn no_row(position: u32) -> Refusal {
    Refusal(format!(
        "Learned positions have {CONTEXT} rows, for positions 0 to {}, the longest trained on: \
         there is none for position {position}, so there is nothing to show.",
        CONTEXT - 1
    ))
}

/// See [`Swamping`].
pub async fn swamping(models: &Models) -> Result<Swamping, Refusal> {
    let mut result = Swamping { symbols: [symbol(0), symbol(1)], ..Swamping::default() };
    let positions =
        |of: &dyn Fn(f64) -> f32| -> Vec<f32> { (0..COMPARED).map(|p| of(f64::from(p))).collect() };
    let alike = |pair: &[Vec<f64>; 2], added: &[f64]| {
        let [a, b] = [&pair[0], &pair[1]].map(|x| normalized(x, added));
        a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>() as f32 / a.len() as f32
    };
    let [a, b] = embeddings(models.get(Positions::Integer)?).await?;
    let width = a.len();
    let pair = [a, b];
    let one = |p: f64| integer(p, width);
    let all = |p: f64| vec![p; width];
    result.lines.push(("integer, in one dimension".into(), positions(&|p| alike(&pair, &one(p)))));
    result.lines.push(("integer, in all alike".into(), positions(&|p| alike(&pair, &all(p)))));
    let still = normalized(&pair[0], &vec![0.0; width]);
    let moved = |added: Vec<f64>| {
        let now = normalized(&pair[0], &added);
        now.iter().zip(&still).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) as f32
    };
    let last = f64::from(COMPARED - 1);
    (result.moved_by_all, result.moved_by_one) = (moved(all(last)), moved(one(last)));
    if let Ok(model) = models.get(Positions::Sinusoidal) {
        let pair = embeddings(model).await?;
        let of = |p: f64| alike(&pair, &sinusoidal(p, width));
        result.lines.push(("sinusoidal".into(), positions(&of)));
    }
    let (rows, pair) = (learned(models).await?, embeddings(models.get(Positions::Learned)?).await?);
    let line = rows.iter().map(|row| alike(&pair, row)).collect();
    result.lines.push(("learned".into(), line));
    Ok(result)
}

/// The vectors of the first two symbols before positions are added.
async fn embeddings(model: &Gpt) -> Result<[Vec<f64>; 2], Refusal> {
    let device = model.device();
    let tokens = Tensor::<2, Int>::from_data(TensorData::new(vec![0i32, 1], [1, 2]), &device);
    let tokens = model.forward_traced(tokens, None).tokens;
    let [_, _, width] = tokens.dims();
    let read = read_all([tokens.reshape([2 * width])]).await?.concat();
    let wide: Vec<f64> = read.into_iter().map(f64::from).collect();
    Ok([wide[..width].to_vec(), wide[width..].to_vec()])
}

/// The sum, normalized to mean 0 and variance 1: a LayerNorm before its gain and bias.
fn normalized(vector: &[f64], added: &[f64]) -> Vec<f64> {
    let sum: Vec<f64> = vector.iter().zip(added).map(|(x, p)| x + p).collect();
    let count = sum.len() as f64;
    let mean = sum.iter().sum::<f64>() / count;
    let variance = sum.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
    sum.iter().map(|x| (x - mean) / (variance + crate::NORM_EPSILON).sqrt()).collect()
}
