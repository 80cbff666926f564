//! A kept run as the list has it, and how it is said in a line.

use js_sys::Date;

use crate::{
    controls::{counted, four_digits, grouped},
    kept::{
        elsewhere,
        file::Head,
        folder::{self, RUNS, Trouble},
        head_of, is_twin, labels,
    },
    store::Store,
};

/// A kept run, as the list has it.
#[derive(Clone)]
pub(super) struct Row {
    pub(super) file: String,
    /// What the learner calls it.
    pub(super) name: Option<String>,
    /// When it was kept, in milliseconds since 1970.
    at: f64,
    pub(super) bytes: f64,
    /// `None` where the file is damaged.
    pub(super) head: Option<Head>,
    /// Whether it is the run of another tab.
    pub(super) elsewhere: bool,
}

impl Row {
    pub(super) fn is_twin(&self) -> bool {
        is_twin(&self.file)
    }
}

/// All kept runs, the newest first.
pub(super) async fn rows(store: Store) -> Result<Vec<Row>, Trouble> {
    let others = elsewhere(store).await;
    let mut rows = Vec::new();
    for entry in folder::entries(RUNS).await? {
        let head = head_of(&entry).await.ok();
        let elsewhere = others.contains(&entry.name);
        let name = labels::name_of(&entry.name);
        // A file that was copied, or brought back, is younger than what it holds.
        let at = head.as_ref().and_then(|head| head.at).unwrap_or(entry.at);
        rows.push(Row { file: entry.name, name, at, bytes: entry.bytes, head, elsewhere });
    }
    rows.sort_by(|a, b| b.at.total_cmp(&a.at));
    Ok(rows)
}

/// How long ago, in words.
pub fn ago(milliseconds: f64) -> String {
    let minutes = (milliseconds / 60_000.0).max(0.0);
    let (number, noun) = match minutes {
        ..1.0 => return "just now".to_owned(),
        ..60.0 => (minutes, "minute"),
        ..1440.0 => (minutes / 60.0, "hour"),
        _ => (minutes / 1440.0, "day"),
    };
    format!("{} ago", counted(number as u64, noun))
}

/// A run in a line: what it is called, and the rest.
pub(super) fn said(row: &Row) -> [String; 2] {
    let when = ago(Date::now() - row.at);
    let run = match &row.head {
        None => format!("A damaged file, {when}"),
        Some(head) => {
            let loss =
                head.loss.map_or(String::new(), |loss| format!(", loss {}", four_digits(loss)));
            let step = grouped(head.step.into());
            format!("{}: {}, step {step}{loss}, {when}", head.text, head.model)
        }
    };
    match &row.name {
        Some(name) => [name.clone(), format!(" ({run})")],
        None => [run, String::new()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_said_in_a_line() {
        let at = |minutes: f64| ago(minutes * 60_000.0);
        assert_eq!([-1.0, 0.9].map(at), ["just now", "just now"]);
        assert_eq!(
            [1.0, 59.9, 61.0, 3000.0].map(at),
            ["1 minute ago", "59 minutes ago", "1 hour ago", "2 days ago"]
        );
    }
}
