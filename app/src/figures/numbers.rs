//! Numbers as they are written in figures.

use crate::controls::grouped;

/// A number as axes and tables write it: `0.05`, `1200`, `3.2·10⁻⁹`.
pub fn short(value: f64) -> String {
    with_digits(value, 5)
}

/// A place on an axis: as [`short`], whole thousands in groups as the time bar has them.
pub fn place(value: f64) -> String {
    match value {
        1000.0..1e6 if value.fract() == 0.0 => grouped(value as u64),
        _ => short(value),
    }
}

/// A number that is read in passing: as [`short`], to four digits.
pub fn brief(value: f64) -> String {
    with_digits(value, 4)
}

fn with_digits(value: f64, digits: u8) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".into()
    } else if (1e-4..1e6).contains(&size) {
        let digits = (f64::from(digits) - 1.0 - size.log10().floor()).clamp(0.0, 8.0) as usize;
        let text = format!("{value:.digits$}");
        let text = if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.')
        } else {
            &text
        };
        text.replace('-', "−")
    } else {
        power_of_ten(value, 2)
    }
}

/// A share of one whole with so many decimal places: `37%`, `37.04%`.
pub fn percent(share: impl Into<f64>, places: usize) -> String {
    format!("{:.places$}%", 100.0 * share.into())
}

/// A number by its power of ten, with at most so many decimals: `2.98·10⁻⁸`.
pub fn power_of_ten(value: f64, decimals: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.abs().to_string();
    }
    let text = format!("{value:.decimals$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let digits = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    };
    let power = superscript(exponent.parse().unwrap_or(0));
    let text = match (digits, exponent) {
        (_, "0") => digits.to_owned(),
        ("1", _) => format!("10{power}"),
        _ => format!("{digits}·10{power}"),
    };
    text.replace('-', "−")
}

/// A number as an exponent.
pub fn superscript(exponent: i32) -> String {
    let sign = if exponent < 0 { "⁻" } else { "" };
    let digit =
        |c: char| ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'][c as usize - '0' as usize];
    sign.chars().chain(exponent.unsigned_abs().to_string().chars().map(digit)).collect()
}

/// So many decimals and a true minus sign, which 0 has not.
pub fn decimals(value: impl Into<f64>, places: usize) -> String {
    let text = format!("{:.places$}", value.into());
    let is_zero = !text.contains(|letter: char| !matches!(letter, '0' | '.' | '-'));
    text.replace('-', if is_zero { "" } else { "−" })
}

/// As most figures write a number of the model.
pub fn four_decimals(value: impl Into<f64>) -> String {
    decimals(value, 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_power_of_ten_is_written_only_where_there_is_one() {
        let written = [2.98e-8, 1e-7, 0.9999, 0.0, -4.0e12].map(|value| power_of_ten(value, 2));
        assert_eq!(written, ["2.98·10⁻⁸", "10⁻⁷", "1", "0", "−4·10¹²"]);
        assert_eq!(superscript(-123), "⁻¹²³");
        let written = [-0.00004, 0.0, -0.00006, -12.5, f64::NAN].map(four_decimals);
        assert_eq!(written, ["0.0000", "0.0000", "−0.0001", "−12.5000", "NaN"]);
        assert_eq!((percent(0.25f32, 0), percent(0.12346, 2)), ("25%".into(), "12.35%".into()));
    }

    #[test]
    fn numbers_are_short() {
        let cases = [0.0, 1.0, 1200.0, -0.5, 1.0 / 3.0, 1e-9, 3.2e-7, 2.5e8, 123_456.0];
        let texts = ["0", "1", "1200", "−0.5", "0.33333", "10⁻⁹", "3.2·10⁻⁷", "2.5·10⁸", "123456"];
        assert_eq!(cases.map(short), texts);
        assert_eq!(
            [1.0 / 3.0, 0.063_736, 2.9288, 1234.6].map(brief),
            ["0.3333", "0.06374", "2.929", "1235"]
        );
    }
}
