//! Parses numbers that people type or links carry.

/// Parses digits with at most one decimal point, a sign and an exponent. Returns `None` for
/// anything else, including infinity.
///
/// The standard library's parser is exact to the last bit of an `f64`, but its tables would be a
/// thirtieth of the page's download. This one is exact for every `f32` written in its shortest
/// form, which is what links hold.
pub fn read_number(text: &str) -> Option<f64> {
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?.clamp(-400, 400)),
        None => (text, 0),
    };
    let (sign, digits) = match mantissa.as_bytes() {
        [b'-', rest @ ..] => (-1.0, rest),
        [b'+', rest @ ..] => (1.0, rest),
        rest => (1.0, rest),
    };
    let (mut whole, mut scale, mut seen, mut point) = (0_u64, exponent, 0, false);
    for &byte in digits {
        match byte {
            b'.' if !point => point = true,
            b'0'..=b'9' => {
                seen += 1;
                // Digits beyond the precision of an `f64` only count as places.
                if whole < 10_u64.pow(17) {
                    whole = whole * 10 + u64::from(byte - b'0');
                    scale -= i32::from(point);
                } else {
                    scale += i32::from(!point);
                }
            }
            _ => return None,
        }
    }
    let mut number = whole as f64;
    // Powers of ten up to the 22nd are exact, and a division by one rounds only once.
    let mut places = scale.unsigned_abs();
    while places > 0 && number != 0.0 {
        let step = places.min(22);
        let power = 10_f64.powi(step as i32);
        number = if scale < 0 { number / power } else { number * power };
        places -= step;
    }
    (seen > 0 && number.is_finite()).then_some(sign * number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_short_number_is_read_exactly() {
        // A step that divides nothing evenly visits all exponents and mantissas.
        for bits in (0..f32::INFINITY.to_bits()).step_by(10_007) {
            let number = f32::from_bits(bits);
            for text in [number.to_string(), format!("-{number:e}")] {
                let read = read_number(&text).unwrap() as f32;
                assert_eq!(read.abs().to_bits(), bits, "{text}");
                assert_eq!(read.is_sign_negative(), text.starts_with('-'), "{text}");
            }
        }
    }

    #[test]
    fn only_numbers_are_read() {
        for (text, number) in [
            ("0", 0.0),
            ("+1.5", 1.5),
            ("-.25", -0.25),
            ("3.", 3.0),
            ("1e-3", 1e-3),
            ("2E2", 200.0),
        ] {
            assert_eq!(read_number(text), Some(number), "{text}");
        }
        for text in ["", ".", "-", "e5", "1e", "1e5.0", "1.2.3", "NaN", "inf", "1e999", "0x1", "1 "]
        {
            assert_eq!(read_number(text), None, "{text}");
        }
    }
}
