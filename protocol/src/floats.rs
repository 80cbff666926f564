//! Serializes many numbers as a block of bytes, copied at once instead of number by number. A
//! model's weights or all of its attention are millions of numbers, and the page must not freeze
//! while it reads them. For serde's `with`.

use core::fmt;

use serde::{Deserializer, Serializer, de};

const BYTES: usize = size_of::<f32>();

pub fn serialize<S: Serializer>(values: &[f32], serializer: S) -> Result<S::Ok, S::Error> {
    let mut bytes = Vec::with_capacity(BYTES * values.len());
    for value in values {
        bytes.extend_from_slice(&value.to_le_bytes());
    }
    serializer.serialize_bytes(&bytes)
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f32>, D::Error> {
    struct Visitor;
    impl de::Visitor<'_> for Visitor {
        type Value = Vec<f32>;

        fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
            f.write_str("32-bit floats as bytes")
        }

        fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Vec<f32>, E> {
            let (values, []) = bytes.as_chunks::<BYTES>() else {
                return Err(E::invalid_length(bytes.len(), &self));
            };
            Ok(values.iter().map(|value| f32::from_le_bytes(*value)).collect())
        }
    }
    deserializer.deserialize_bytes(Visitor)
}

#[cfg(test)]
mod tests {
    use crate::{Array, wire};

    #[test]
    fn every_bit_survives_and_half_a_number_is_refused() {
        let values = vec![0.0, -0.0, 1.5e-42, f32::MAX, f32::NAN, f32::NEG_INFINITY];
        let array = Array { shape: vec![2, 3], values };
        let bytes = wire::encode(&array);
        let read: Array = wire::decode(&bytes).unwrap();
        let bits = |array: &Array| array.values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&read), bits(&array));
        // The version, the shape, and a length of 3 bytes.
        let half = [wire::VERSION, 1, 1, 3, 0, 0, 0];
        assert_eq!(wire::decode::<Array>(&half), Err(wire::WireError::Malformed));
    }
}
