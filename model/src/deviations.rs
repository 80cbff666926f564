//! How large the initial weights of a GPT are.

use unroll_protocol::Initialization;

/// GPT-2's standard deviation.
const USUAL: f64 = 0.02;

/// Standard deviations of the initial weights, which are normal draws: the same ones under every
/// [`Initialization`].
#[derive(Clone, Copy, Debug)]
pub struct Deviations {
    pub initialization: Initialization,
    /// Number of blocks.
    pub layers: u32,
}

impl Deviations {
    /// Of a matrix with so many inputs and outputs.
    pub fn inner(self, shape: [usize; 2]) -> f64 {
        let [inputs, outputs] = shape.map(|count| count.max(1) as f64);
        match self.initialization {
            Initialization::Gpt2 => USUAL,
            Initialization::Xavier => (2.0 / (inputs + outputs)).sqrt(),
            Initialization::He => (2.0 / inputs).sqrt(),
            Initialization::Large => 1.0,
            Initialization::Zero => 0.0,
        }
    }

    /// Of a matrix that writes into the residual stream. There `2 * layers` of them add up, for which
    /// GPT-2 makes up at the start.
    pub fn output(self, shape: [usize; 2]) -> f64 {
        match self.initialization {
            Initialization::Gpt2 => USUAL / f64::from(2 * self.layers).sqrt(),
            _ => self.inner(shape),
        }
    }

    /// Of embeddings, where GPT-2 or Vaswani et al. 2017 would take `usual`.
    pub fn embedding(self, usual: f64) -> f64 {
        match self.initialization {
            Initialization::Gpt2 | Initialization::Xavier | Initialization::He => usual,
            Initialization::Large => 1.0,
            Initialization::Zero => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_the_deviation_of_its_paper() {
        let of = |initialization| Deviations { initialization, layers: 8 };
        let shape = [30, 70];
        let gpt2 = of(Initialization::Gpt2);
        assert_eq!(
            (gpt2.inner(shape), gpt2.output(shape), gpt2.embedding(0.02)),
            (0.02, 0.005, 0.02)
        );
        for (initialization, expected) in
            [(Initialization::Xavier, 0.02f64.sqrt()), (Initialization::He, (2.0f64 / 30.0).sqrt())]
        {
            let found = of(initialization);
            assert_eq!((found.inner(shape), found.output(shape)), (expected, expected));
            assert_eq!(found.embedding(0.02), 0.02);
        }
        for (initialization, all) in [(Initialization::Large, 1.0), (Initialization::Zero, 0.0)] {
            let found = of(initialization);
            assert_eq!([found.inner(shape), found.output(shape), found.embedding(0.02)], [all; 3]);
        }
    }
}
