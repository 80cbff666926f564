//! Numbers as people read them.

use unroll_protocol::{
    Link, TokenKind,
    link::{Kind, Setting, Value, Words, general_words, settings, words},
};

/// A whole number with its thousands apart: `104,960`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// A positive number with four digits where it has that many: `2.345`, `23.45`, `2345`, `23,456`.
pub fn four_digits(number: f32) -> String {
    if !number.is_finite() {
        return "not a number".to_owned();
    }
    if number.abs() >= 9999.5 {
        return grouped(number.abs().round() as u64);
    }
    let whole = number.abs().max(1.0).log10().floor() as usize + 1;
    format!("{number:.*}", 4usize.saturating_sub(whole))
}

/// A learning rate, short at any size: `0.003`, `1e-6`.
pub fn rate(rate: f32) -> String {
    if rate == 0.0 || rate >= 1e-4 { rate.to_string() } else { format!("{rate:e}") }
}

/// A share as a count of thousandths, millionths and so on, of the first that it holds one of: 4 and
/// `billion` for 4·10⁻⁹. `None` below a trillionth.
pub fn tiny_share(share: f64) -> Option<(f64, &'static str)> {
    let wholes = [(1e3, "thousand"), (1e6, "million"), (1e9, "billion"), (1e12, "trillion")];
    let (parts, name) = wholes.into_iter().find(|(parts, _)| share * parts >= 0.95)?;
    Some(((share * parts).round(), name))
}

/// A count with its noun: `1 step`, `2 steps`.
pub fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

/// The lab's model of a link in a few words.
pub fn model_name(link: &Link) -> String {
    let gpt = &link.gpt;
    let tokens = match gpt.tokens {
        TokenKind::Characters => "",
        TokenKind::Bytes => ", bytes",
        TokenKind::Pairs => ", byte pairs",
    };
    format!("{}, {} wide{tokens}", shape_name(gpt.layers, gpt.heads), gpt.width)
}

/// The shape of a GPT in a few words.
pub fn shape_name(layers: u32, heads: u32) -> String {
    format!("{}, {}", counted(layers.into(), "layer"), counted(heads.into(), "head"))
}

/// The row of the settings table with this name, which must be there.
pub fn setting(name: &str) -> &'static Setting {
    settings().find(|setting| setting.name == name).expect("a row of the settings table")
}

/// A setting's value as its control shows it.
pub fn in_words(setting: &Setting, value: &Value) -> String {
    match (setting.kind, value) {
        (Kind::Choice(choices), Value::Choice(id)) => {
            choices.iter().find(|choice| choice.0 == *id).map_or(*id, |choice| choice.1).to_owned()
        }
        (_, Value::Flag(on)) => if *on { "on" } else { "off" }.to_owned(),
        (_, value) => value.to_string(),
    }
}

/// What the page says of a setting that is of no one chapter of the course.
pub fn general(name: &str) -> &'static Words {
    general_words().find(|words| words.name == name).expect("a general row of the settings table")
}

/// What the page says of any setting. Only for the chapters' controls, which are fetched: it brings
/// the words of all chapters along.
pub fn any(name: &str) -> &'static Words {
    words().find(|words| words.name == name).expect("a row of the settings table")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(104_960), "104,960");
        assert_eq!(grouped(12_000_000), "12,000,000");
        assert_eq!(counted(1, "step"), "1 step");
        assert_eq!(counted(1200, "step"), "1,200 steps");
        let read = [0.01234, 2.34567, 23.4567, 2345.6, 5_682_528.0, f32::NAN].map(four_digits);
        assert_eq!(read, ["0.012", "2.346", "23.46", "2346", "5,682,528", "not a number"]);
        assert_eq!(rate(3e-3), "0.003");
        assert_eq!(rate(1e-6), "1e-6");
        assert_eq!(rate(0.0), "0");
        assert_eq!(rate(1000.0), "1000");
    }
}
