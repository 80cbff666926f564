//! Rotary position embedding (Su et al. 2021).

use burn::tensor::{Device, Tensor, TensorData};

use super::frequency;

/// Rotates pair `i` of a vector at position `p` by the angle `p · 10000^(-2i/d)`. The product of a
/// rotated query and a rotated key then depends on their positions only through the difference.
#[derive(Clone, Debug)]
pub struct Rotation {
    /// `[T, d]`, the same number for both members of a pair.
    cos: Tensor<2>,
    sin: Tensor<2>,
    /// Maps each pair `(x, y)` to `(-y, x)` by a matrix product, `[d, d]`: far fewer operations
    /// than splitting the pairs and joining them again.
    quarter: Tensor<2>,
}

impl Rotation {
    /// For positions `0..length` and vectors of `width` dimensions.
    ///
    /// # Panics
    ///
    /// Panics if `width` is odd.
    pub fn new(length: usize, width: usize, device: &Device) -> Self {
        Self::at(0, length, width, device)
    }

    /// For positions `first..first + length`.
    ///
    /// # Panics
    ///
    /// Panics if `width` is odd.
    pub fn at(first: usize, length: usize, width: usize, device: &Device) -> Self {
        assert!(width.is_multiple_of(2), "a width of {width} can't be split into pairs");
        let device = device.clone().inner();
        let table = |of: fn(f64) -> f64| {
            let angle = |p: usize, i: usize| p as f64 * frequency(i / 2, width);
            let values = (first..first + length)
                .flat_map(|p| (0..width).map(move |i| of(angle(p, i)) as f32))
                .collect();
            Tensor::from_data(TensorData::new(values, [length, width]), &device)
        };
        let mut quarter = vec![0f32; width * width];
        for x in (0..width).step_by(2) {
            quarter[x * width + x + 1] = 1.0;
            quarter[(x + 1) * width + x] = -1.0;
        }
        let quarter = Tensor::from_data(TensorData::new(quarter, [width, width]), &device);
        Self { cos: table(f64::cos), sin: table(f64::sin), quarter }
    }

    /// Rotates vectors by their positions.
    ///
    /// # Shapes
    ///
    /// - vectors: `[batch, heads, T, d]`
    /// - output: the same
    pub fn apply(&self, vectors: Tensor<4>) -> Tensor<4> {
        let shape = vectors.dims();
        let [batch, heads, length, width] = shape;
        let rows = vectors.clone().reshape([batch * heads * length, width]);
        let turned = rows.matmul(self.quarter.clone()).reshape(shape);
        vectors * self.cos.clone().unsqueeze::<4>() + turned * self.sin.clone().unsqueeze::<4>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Normals, Purpose, stream};

    #[test]
    fn scores_depend_on_the_offset_only() {
        let device = Device::flex();
        let (length, width) = (12, 8);
        let mut draws = Normals::new(stream(1, Purpose::Weights, [0; 3]));
        let mut vector = || {
            let data = TensorData::new(draws.draw(width, 1.0), [1, 1, 1, width]);
            Tensor::<4>::from_data(data, &device).expand([1, 1, length, width])
        };
        let (query, key) = (vector(), vector());
        let scores = |first| {
            let rotation = Rotation::at(first, length, width, &device);
            let scores =
                rotation.apply(query.clone()).matmul(rotation.apply(key.clone()).swap_dims(2, 3));
            scores.into_data().try_into_vec::<f32>().unwrap()
        };
        let here = scores(0);
        for (q, k) in (0..length - 1).flat_map(|q| (0..length - 1).map(move |k| (q, k))) {
            let next = here[(q + 1) * length + k + 1];
            assert!((here[q * length + k] - next).abs() < 1e-5, "{q}, {k}");
        }
        let far = scores(1000);
        assert!(here.iter().zip(&far).all(|(a, b)| (a - b).abs() < 2e-5));
        // They do depend on the difference.
        assert!((here[0] - here[length]).abs() > 1e-3);
    }
}
