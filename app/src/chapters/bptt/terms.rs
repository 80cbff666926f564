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
/// So many of the last terms stand by themselves: they are the large ones.
const LAST: usize = 6;

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

    /// How many of the first terms are shown as one.
    pub fn together(&self) -> usize {
        let earlier = self.terms.len().saturating_sub(LAST);
        if earlier > 1 { earlier } else { 0 }
    }

    /// The first terms in one, and each of the last, with their steps.
    pub fn shown(&self) -> Vec<(String, String)> {
        let (earlier, last) = self.terms.split_at(self.together());
        let steps = earlier.len() + 1..;
        let each = steps.zip(last).map(|(step, &term)| (step.to_string(), decimal(term)));
        let first = (!earlier.is_empty())
            .then(|| (format!("1 to {}", earlier.len()), decimal(earlier.iter().sum())));
        first.into_iter().chain(each).collect()
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
        let each = |terms: &Terms| terms.shown().into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
        let (steps, digits) = each(&shown);
        assert_eq!(steps, ["1", "2", "3", "4", "5"]);
        assert_eq!(digits, ["+1.50000", "−2.25000", "0.00000", "+0.00003", "+4.44444"]);
        assert_eq!((shown.sum().as_str(), shown.whole().as_str()), ("+3.69447", "+3.69447"));
        let many = Terms::new(&[0.25, -0.5, 1.0, 0.0, 0.0, 0.0, 0.0, 2.0], 2.75);
        let (steps, digits) = each(&many);
        assert_eq!(
            (many.together(), steps[0].as_str(), digits[0].as_str()),
            (2, "1 to 2", "−0.25000")
        );
        assert_eq!(
            (steps.len(), digits[1].as_str(), many.sum().as_str()),
            (7, "+1.00000", "+2.75000")
        );
        assert_eq!(Terms::new(&[1.0; 7], 7.0).together(), 0, "one alone is no sum");
        let nothing = Terms::new(&[0.0; 3], 0.0);
        assert_eq!((nothing.exponent, nothing.sum()), (0, "0.00000".to_owned()));
    }
}
