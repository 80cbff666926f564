//! The terms of one weight's gradient, in digits that add up.

/// Terms and their sum as whole multiples of one power of ten, so that what is shown adds up digit
/// by digit.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// A shown 1.0000 is `10^exponent`.
    pub exponent: i32,
    terms: Vec<i64>,
    whole: i64,
}

/// Decimals shown.
const DECIMALS: u32 = 5;

impl Terms {
    /// The largest term has one digit before the point.
    pub fn new(terms: &[f32], whole: f32) -> Self {
        let most = terms.iter().fold(0f64, |most, &term| most.max(f64::from(term).abs()));
        let exponent = if most > 0.0 { most.log10().floor() as i32 } else { 0 };
        let unit = 10f64.powi(exponent - DECIMALS as i32);
        let rounded = |value: f32| (f64::from(value) / unit).round() as i64;
        let terms = terms.iter().map(|&term| rounded(term)).collect();
        Self { exponent, terms, whole: rounded(whole) }
    }

    /// Each term.
    pub fn shown(&self) -> Vec<String> {
        self.terms.iter().map(|&term| decimal(term)).collect()
    }

    /// The sum of the terms as shown.
    pub fn sum(&self) -> String {
        decimal(self.terms.iter().sum())
    }

    /// The whole gradient as backpropagation gives it.
    pub fn whole(&self) -> String {
        decimal(self.whole)
    }
}

fn decimal(value: i64) -> String {
    let one = 10u64.pow(DECIMALS);
    let (whole, rest) = (value.unsigned_abs() / one, value.unsigned_abs() % one);
    let sign = match value.signum() {
        -1 => "−",
        1 => "+",
        _ => "",
    };
    format!("{sign}{whole}.{rest:0width$}", width = DECIMALS as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_adds_up() {
        let terms = [1.5e-7, -2.25e-7, 0.0, 3.0e-12, 4.444_444e-7];
        let shown = Terms::new(&terms, 3.694_474e-7);
        assert_eq!(shown.exponent, -7);
        assert_eq!(shown.shown(), ["+1.50000", "−2.25000", "0.00000", "+0.00003", "+4.44444"]);
        assert_eq!((shown.sum().as_str(), shown.whole().as_str()), ("+3.69447", "+3.69447"));
        let nothing = Terms::new(&[0.0; 3], 0.0);
        assert_eq!((nothing.exponent, nothing.sum()), (0, "0.00000".to_owned()));
    }
}
