//! Messages as bytes: postcard behind one version byte.

use core::fmt;

use postcard::ser_flavors::Flavor;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Increment this when [`crate::Command`] or [`crate::Event`] changes, so that a cached engine of
/// another release is recognized instead of being misread.
pub const VERSION: u8 = 24;

/// Why bytes are not a message. `Display` is the sentence the page shows.
#[derive(Clone, Debug, PartialEq)]
pub enum WireError {
    Empty,
    Version(u8),
    Malformed,
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "An empty message was ignored."),
            Self::Version(found) => write!(
                f,
                "A message of version {found} was ignored; this release speaks version {VERSION}. \
                 Reload the page."
            ),
            Self::Malformed => write!(f, "A malformed message was ignored."),
        }
    }
}

impl std::error::Error for WireError {}

/// Bytes that grow. With postcard's flavor that can begin with a version, the page loads 1 KB more at first, and
/// the course's engine is 2 KB larger.
struct Bytes(Vec<u8>);

impl Flavor for Bytes {
    type Output = Vec<u8>;

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<Vec<u8>> {
        Ok(self.0)
    }
}

/// The one writer of everything here: a second kind would be all code for writing once more.
type Writer = postcard::Serializer<Bytes>;

/// What is written behind `start`.
fn written(start: Vec<u8>, write: &dyn Fn(&mut Writer) -> postcard::Result<()>) -> Vec<u8> {
    let mut writer = Writer { output: Bytes(start) };
    let done = write(&mut writer).and_then(|()| writer.output.finalize());
    done.expect("our messages hold nothing postcard can't write")
}

/// Encodes a message.
pub fn encode<M: Serialize>(message: &M) -> Vec<u8> {
    written(vec![VERSION], &|writer| message.serialize(writer))
}

/// Decodes a message. Fails on bytes of another version, truncated bytes, and trailing bytes.
pub fn decode<M: DeserializeOwned>(bytes: &[u8]) -> Result<M, WireError> {
    let (&version, body) = bytes.split_first().ok_or(WireError::Empty)?;
    if version != VERSION {
        return Err(WireError::Version(version));
    }
    match postcard::take_from_bytes(body) {
        Ok((message, [])) => Ok(message),
        _ => Err(WireError::Malformed),
    }
}

/// A message within a message, still encoded: whoever passes it on need not understand it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packed(Vec<u8>);

impl Packed {
    pub fn of<M: Serialize>(message: &M) -> Self {
        Self(written(Vec::new(), &|writer| message.serialize(writer)))
    }

    /// The bytes of an enum's variant, which is the variant of an enum itself, from what is in it.
    pub(crate) fn variant<M: Serialize>([outer, inner]: [u32; 2], message: &M) -> Self {
        Self(written(Vec::new(), &|writer| {
            outer.serialize(&mut *writer)?;
            inner.serialize(&mut *writer)?;
            message.serialize(writer)
        }))
    }

    /// A message that [`Self::into_bytes`] was told of.
    pub fn from_bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    /// The message's bytes, without a version.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// The message, if it is an `M` and nothing more.
    pub fn unpack<M: DeserializeOwned>(&self) -> Result<M, WireError> {
        match postcard::take_from_bytes(&self.0) {
            Ok((message, [])) => Ok(message),
            _ => Err(WireError::Malformed),
        }
    }
}

impl Serialize for Packed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Packed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Packed;

            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Packed, E> {
                Ok(Packed(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Array, Command, Event, Link, Trace};
    use proptest::prelude::*;

    fn start() -> Command {
        let spec = Link::default().experiment();
        Command::Start { spec, text: "some text".into(), resume: None, workers: 2 }
    }

    #[test]
    fn messages_survive_the_trip() {
        assert_eq!(decode(&encode(&start())), Ok(start()));
        let trace = Trace {
            tokens: vec!["a".into(), "\u{FFFD}".into()],
            weights: Array { shape: vec![1, 1, 2, 2], values: vec![1.0, 0.0, 0.25, 0.75] },
            ..Trace::default()
        };
        let event = Event::Answered { id: 1, step: 2, answer: Packed::of(&trace), more: false };
        assert_eq!(decode(&encode(&event)), Ok(event));
    }

    #[test]
    fn a_packed_message_is_read_by_who_knows_it() {
        let answer = Event::Answered { id: 1, step: 2, answer: Packed::of(&start()), more: true };
        let Ok(Event::Answered { id: 1, step: 2, answer, more: true }) = decode(&encode(&answer))
        else {
            panic!("another message");
        };
        assert_eq!(answer.unpack(), Ok(start()));
        assert_eq!(answer.unpack::<u8>(), Err(WireError::Malformed));
        assert_eq!(Packed(vec![]).unpack::<Command>(), Err(WireError::Malformed));
    }

    #[test]
    fn other_versions_and_damage_are_told_apart() {
        let mut bytes = encode(&start());
        assert_eq!(decode::<Command>(&bytes[..bytes.len() - 1]), Err(WireError::Malformed));
        bytes.push(0);
        assert_eq!(decode::<Command>(&bytes), Err(WireError::Malformed));
        bytes[0] = 99;
        assert_eq!(decode::<Command>(&bytes), Err(WireError::Version(99)));
        assert_eq!(decode::<Command>(&[]), Err(WireError::Empty));
    }

    proptest! {
        #[test]
        fn hostile_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = decode::<Command>(&bytes);
            let _ = decode::<Event>(&bytes);
            let versioned: Vec<u8> = [VERSION].into_iter().chain(bytes).collect();
            let _ = decode::<Command>(&versioned);
            let _ = decode::<Event>(&versioned);
        }

        #[test]
        fn flipped_bits_never_panic(at in 0usize..64, bit in 0u8..8) {
            let mut bytes = encode(&start());
            let at = at % bytes.len();
            bytes[at] ^= 1 << bit;
            let _ = decode::<Command>(&bytes);
        }
    }
}
