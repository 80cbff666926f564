//! Macros for rows of the settings table, which make seventy of them short.

use serde::Deserialize;

/// A row whose field holds the value itself.
macro_rules! plain {
    ($(of $chapter:ident,)? $name:literal, $label:literal, $($field:ident).+: $variant:ident,
     $kind:expr, $help:literal) => {
        $crate::link::TableRow {
            name: $name,
            label: $label,
            help: $help,
            of: $crate::link::rows::of!($($chapter)?),
            kind: $kind,
            get: |link| $crate::link::Value::$variant(link.$($field).+),
            set: |link, value| {
                if let $crate::link::Value::$variant(value) = value {
                    link.$($field).+ = value;
                }
            },
        }
    };
}

/// A row whose field is a list of so many numbers.
macro_rules! numbers {
    (of $chapter:ident, $name:literal, $label:literal, $($field:ident).+: $count:literal,
     $min:literal, $max:literal, $help:literal) => {
        $crate::link::TableRow {
            name: $name,
            label: $label,
            help: $help,
            of: Some($crate::link::Chapter::$chapter),
            kind: $crate::link::Kind::Numbers { count: $count, min: $min, max: $max },
            get: |link| $crate::link::Value::Numbers(link.$($field).+.clone()),
            set: |link, value| {
                if let $crate::link::Value::Numbers(value) = value {
                    link.$($field).+ = value;
                }
            },
        }
    };
}

/// A row whose field is an enum with a closed set of choices.
macro_rules! chosen {
    ($(of $chapter:ident,)? $name:literal, $label:literal, $($field:ident).+: $type:ident,
     $help:literal) => {
        $crate::link::TableRow {
            name: $name,
            label: $label,
            help: $help,
            of: $crate::link::rows::of!($($chapter)?),
            kind: $crate::link::Kind::Choice($type::CHOICES),
            get: |link| $crate::link::Value::Choice(link.$($field).+.id()),
            set: |link, value| {
                if let $crate::link::Value::Choice(id) = value {
                    link.$($field).+ = $type::from_id(id).expect("parsed from the same list");
                }
            },
        }
    };
}

/// The chapter a row belongs to.
macro_rules! of {
    () => {
        None
    };
    ($chapter:ident) => {
        Some($crate::link::Chapter::$chapter)
    };
}

/// An enum with a closed set of choices and their names on the page.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $id:literal, $label:literal;)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
        pub enum $name { $($(#[$vdoc])* $variant,)+ }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let names = &[$(stringify!($variant),)+];
                crate::link::rows::read_choice(deserializer, names).map(|at| Self::ALL[at])
            }
        }

        impl $name {
            /// Id in URLs and label on the page, in order.
            pub const CHOICES: &'static [(&'static str, &'static str)] = &[$(($id, $label),)+];
            /// Every choice, in order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The id used in URLs.
            pub fn id(self) -> &'static str {
                match self { $(Self::$variant => $id,)+ }
            }

            /// The name on the page.
            pub fn label(self) -> &'static str {
                match self { $(Self::$variant => $label,)+ }
            }

            /// The choice with this id.
            pub fn from_id(id: &str) -> Option<Self> {
                match id { $($id => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}

/// The place of a choice among `names`, as it was written by serde's own `Serialize`: by its place in
/// messages, by its name in JSON. What serde would derive is several times as much code for each.
pub(crate) fn read_choice<'de, D: serde::Deserializer<'de>>(
    deserializer: D,
    names: &[&str],
) -> Result<usize, D::Error> {
    let at = if deserializer.is_human_readable() {
        let name = String::deserialize(deserializer)?;
        names.iter().position(|known| **known == *name)
    } else {
        Some(u32::deserialize(deserializer)? as usize)
    };
    let unknown = || serde::de::Error::custom("no such choice");
    at.filter(|at| *at < names.len()).ok_or_else(unknown)
}

pub(crate) use {choice, chosen, numbers, of, plain};
