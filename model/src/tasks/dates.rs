//! Dates in the ways people write them.

use rand::rngs::ChaCha8Rng;

use crate::random::below;

/// A day of the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Date {
    pub(super) year: u32,
    /// From 1.
    pub(super) month: u32,
    /// From 1.
    pub(super) day: u32,
}

/// The years that dates are drawn from.
const YEARS: core::ops::Range<u32> = 1900..2100;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

const WEEKDAYS: [&str; 7] =
    ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The formats of dates: `d` and `D` are the day without and with a leading zero, `o` the day with
/// its ending (1st), `m` and `M` the month's number likewise, `b` and `B` its short and full name,
/// `w` and `W` those of the weekday, `y` the year. Dates in digits are day first with dots and
/// dashes, year first with slashes, so that each phrase means a single date.
const PHRASES: [&str; 24] = [
    "d B y",
    "o B y",
    "o of B y",
    "the o of B y",
    "the o of B, y",
    "B d y",
    "B d, y",
    "B o, y",
    "B the o, y",
    "d b y",
    "o b y",
    "o of b y",
    "b d, y",
    "b o y",
    "w d B y",
    "w, B d, y",
    "W d b y",
    "W, b d, y",
    "w the o of b y",
    "d.m.y",
    "D.M.y",
    "d-b-y",
    "y/M/D",
    "y B d",
];

/// Length of the longest phrase, in characters.
pub(super) const LONGEST: usize = 27;

/// Characters that phrases are made of.
pub(super) const CHARACTERS: &str = " ,-./0123456789abcdefghijklmnopqrstuvwxyz";

fn days_in(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => {
            29
        }
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl Date {
    pub(super) fn drawn(rng: &mut ChaCha8Rng) -> Self {
        let year = YEARS.start + below(rng, YEARS.len()) as u32;
        let month = 1 + below(rng, 12) as u32;
        Self { year, month, day: 1 + below(rng, days_in(year, month) as usize) as u32 }
    }

    pub(super) fn iso(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    /// Index in [`WEEKDAYS`], by Zeller's congruence (1882), whose weeks start on Saturday.
    fn weekday(self) -> usize {
        let (year, month) =
            if self.month < 3 { (self.year - 1, self.month + 12) } else { (self.year, self.month) };
        let from_saturday =
            (self.day + 13 * (month + 1) / 5 + year + year / 4 - year / 100 + year / 400) % 7;
        (from_saturday as usize + 5) % 7
    }

    /// The date in a random format.
    pub(super) fn phrase(self, rng: &mut ChaCha8Rng) -> String {
        self.written(PHRASES[below(rng, PHRASES.len())])
    }

    fn written(self, phrase: &str) -> String {
        let Self { year, month, day } = self;
        let (name, weekday) = (MONTHS[month as usize - 1], WEEKDAYS[self.weekday()]);
        let mut written = String::new();
        // Words that are not letters of the format.
        for (index, word) in phrase.split(' ').enumerate() {
            if index > 0 {
                written.push(' ');
            }
            if matches!(word, "the" | "of") {
                written.push_str(word);
                continue;
            }
            for part in word.chars() {
                match part {
                    'd' => written.push_str(&day.to_string()),
                    'D' => written.push_str(&format!("{day:02}")),
                    'o' => written.push_str(&format!("{day}{}", ending(day))),
                    'm' => written.push_str(&month.to_string()),
                    'M' => written.push_str(&format!("{month:02}")),
                    'b' => written.push_str(&name[..3]),
                    'B' => written.push_str(name),
                    'w' => written.push_str(&weekday[..3]),
                    'W' => written.push_str(weekday),
                    'y' => written.push_str(&year.to_string()),
                    other => written.push(other),
                }
            }
        }
        written
    }

    /// Parses a lower-case text in one of the formats above.
    pub(super) fn read(text: &str) -> Option<Self> {
        let runs = |wanted: fn(&char) -> bool| {
            let split = text.split(move |c: char| !wanted(&c));
            split.filter(|run| !run.is_empty()).collect::<Vec<_>>()
        };
        let numbers: Option<Vec<u32>> =
            runs(char::is_ascii_digit).into_iter().map(|run| run.parse().ok()).collect();
        let numbers = numbers?;
        let named = runs(char::is_ascii_alphabetic).into_iter().find_map(|word| {
            MONTHS.iter().position(|name| word.len() >= 3 && name.starts_with(word))
        });
        let is_year = |number: &u32| (1000..10_000).contains(number);
        let (year, month, day) = match (named, &numbers[..]) {
            (Some(month), &[year, day]) if is_year(&year) => (year, month as u32 + 1, day),
            (Some(month), &[day, year]) if is_year(&year) => (year, month as u32 + 1, day),
            (None, &[year, month, day]) if is_year(&year) => (year, month, day),
            (None, &[day, month, year]) if is_year(&year) => (year, month, day),
            _ => return None,
        };
        let real = (1..=12).contains(&month) && day >= 1 && day <= days_in(year, month);
        real.then_some(Self { year, month, day })
    }
}

/// st, nd, rd or th.
fn ending(day: u32) -> &'static str {
    match (day, day % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_of_every_kind_of_date_reads_back_as_it() {
        let mut longest = 0;
        for year in [1900, 1904, 1998, 2000, 2099] {
            for month in 1..=12 {
                for day in 1..=days_in(year, month) {
                    let date = Date { year, month, day };
                    for phrase in PHRASES {
                        let written = date.written(phrase);
                        assert_eq!(Date::read(&written), Some(date), "{written}");
                        assert!(written.chars().all(|c| CHARACTERS.contains(c)), "{written}");
                        longest = longest.max(written.len());
                    }
                }
            }
        }
        assert_eq!(longest, LONGEST);
    }

    #[test]
    fn weekdays_and_endings_are_right() {
        let on = |year, month, day| Date { year, month, day };
        assert_eq!(on(1998, 5, 3).written("W the o of B, y"), "sunday the 3rd of may, 1998");
        assert_eq!(on(2026, 11, 21).written("w d b y"), "sat 21 nov 2026");
        assert_eq!(on(2000, 2, 29).written("W o"), "tuesday 29th");
        assert_eq!(on(1900, 1, 1).written("W o"), "monday 1st");
        let endings = [1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 31].map(ending);
        assert_eq!(endings, ["st", "nd", "rd", "th", "th", "th", "th", "st", "nd", "rd", "st"]);
    }

    #[test]
    fn what_is_no_date_is_none() {
        for text in
            ["", "hello", "30 february 2000", "5 may", "may 1998", "1.13.1998", "0 may 1998"]
        {
            assert_eq!(Date::read(text), None, "{text}");
        }
    }
}
