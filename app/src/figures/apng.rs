//! Animated PNG: pictures that the browser has written as PNG files, joined to a film. Every pixel
//! keeps its exact color, and whatever shows images plays it. Pure functions, no browser.
//!
//! Format: <https://www.w3.org/TR/png-3/>, chunks `acTL`, `fcTL` and `fdAT`.

/// A rectangle of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    pub x: u32,
    pub y: u32,
    pub width: u32,
    pub height: u32,
}

/// Where a picture differs from the one before, and its pixels there: what stayed is transparent,
/// which takes next to no room. Both are opaque RGBA pixels, `width` in a row. `None` where nothing
/// differs.
pub fn change(before: &[u8], now: &[u8], width: u32) -> Option<(Area, Vec<u8>)> {
    let row = width as usize;
    let rows = || before.as_chunks::<4>().0.chunks(row).zip(now.as_chunks::<4>().0.chunks(row));
    let top = rows().position(|(before, now)| before != now)?;
    let bottom = rows().rposition(|(before, now)| before != now)?;
    let (mut left, mut right) = (row, 0);
    for (before, now) in rows().skip(top).take(bottom + 1 - top) {
        let differs = |at: &usize| before[*at] != now[*at];
        left = (0..left).find(differs).unwrap_or(left);
        right = (right..row).rev().find(differs).unwrap_or(right);
    }
    let mut patch = Vec::with_capacity(4 * (right + 1 - left) * (bottom + 1 - top));
    for (before, now) in rows().skip(top).take(bottom + 1 - top) {
        for (before, now) in before[left..=right].iter().zip(&now[left..=right]) {
            patch.extend_from_slice(if before == now { &[0; 4] } else { now });
        }
    }
    let area = Area {
        x: left as u32,
        y: top as u32,
        width: (right + 1 - left) as u32,
        height: (bottom + 1 - top) as u32,
    };
    Some((area, patch))
}

const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";
/// What says which colors the numbers are: it counts for the whole film.
const COLORS: [&[u8; 4]; 4] = [b"cHRM", b"gAMA", b"iCCP", b"sRGB"];

/// A film being joined, picture by picture. What [`Self::picture`] gives comes after [`Self::head`]
/// and before [`end`].
#[derive(Default)]
pub struct Film {
    /// `IHDR` of the first picture.
    header: Vec<u8>,
    pictures: u32,
    /// Chunks that hold pictures are numbered.
    chunks: u32,
}

impl Film {
    /// The next picture, shown for so long: a PNG file of `area`. It is laid over the pictures before
    /// it. The first is of the whole.
    ///
    /// # Errors
    ///
    /// A sentence, where the file is none or of another kind than the first.
    pub fn picture(
        &mut self,
        png: &[u8],
        area: Area,
        milliseconds: u16,
    ) -> Result<Vec<u8>, &'static str> {
        let bad = "This browser wrote a picture that can’t be part of a film.";
        let chunks = chunks(png).ok_or(bad)?;
        let of_kind = |kind: [u8; 4]| chunks.iter().filter(move |chunk| chunk.0 == kind);
        let header = of_kind(*b"IHDR").next().filter(|header| header.1.len() == 13).ok_or(bad)?.1;
        let first = self.header.is_empty();
        if first {
            self.header = header.to_vec();
        }
        let (size, kind) = header.split_at(8);
        if size != [area.width.to_be_bytes(), area.height.to_be_bytes()].concat()
            || kind != &self.header[8..]
        {
            return Err(bad);
        }
        let mut out = Vec::with_capacity(png.len() + 64);
        if first {
            for (kind, data) in chunks.iter().filter(|chunk| COLORS.contains(&&chunk.0)) {
                write_chunk(&mut out, kind, &[data]);
            }
        }
        let place = [area.width, area.height, area.x, area.y].map(u32::to_be_bytes).concat();
        let delay = [milliseconds, 1000].map(u16::to_be_bytes).concat();
        // The picture stays, and the next is laid over it.
        let number = self.number();
        write_chunk(&mut out, b"fcTL", &[&number, &place, &delay, &[0, 1]]);
        for (_, data) in of_kind(*b"IDAT") {
            if first {
                write_chunk(&mut out, b"IDAT", &[data]);
            } else {
                let number = self.number();
                write_chunk(&mut out, b"fdAT", &[&number, data]);
            }
        }
        self.pictures += 1;
        Ok(out)
    }

    fn number(&mut self) -> [u8; 4] {
        self.chunks += 1;
        (self.chunks - 1).to_be_bytes()
    }

    /// How many pictures there are so far.
    pub fn pictures(&self) -> u32 {
        self.pictures
    }

    /// What the file begins with once all pictures are known. It plays again and again.
    pub fn head(&self) -> Vec<u8> {
        let mut out = SIGNATURE.to_vec();
        write_chunk(&mut out, b"IHDR", &[&self.header]);
        write_chunk(&mut out, b"acTL", &[&self.pictures.to_be_bytes(), &[0; 4]]);
        out
    }
}

/// What the file ends with.
pub fn end() -> Vec<u8> {
    let mut out = Vec::new();
    write_chunk(&mut out, b"IEND", &[]);
    out
}

/// The chunks of a PNG file, by kind; `None` if it is cut short or none.
fn chunks(png: &[u8]) -> Option<Vec<([u8; 4], &[u8])>> {
    let mut rest = png.strip_prefix(&SIGNATURE)?;
    let mut chunks = Vec::new();
    while !rest.is_empty() {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let (kind, after) = after.split_first_chunk::<4>()?;
        let (data, after) = after.split_at_checked(u32::from_be_bytes(*length) as usize)?;
        let (_checksum, after) = after.split_first_chunk::<4>()?;
        chunks.push((*kind, data));
        rest = after;
    }
    Some(chunks)
}

fn write_chunk(out: &mut Vec<u8>, kind: &[u8; 4], data: &[&[u8]]) {
    let length: usize = data.iter().map(|data| data.len()).sum();
    out.extend_from_slice(&(length as u32).to_be_bytes());
    let start = out.len();
    out.extend_from_slice(kind);
    data.iter().for_each(|data| out.extend_from_slice(data));
    let sum = checksum(&out[start..]);
    out.extend_from_slice(&sum.to_be_bytes());
}

/// CRC-32 as PNG has it, four bits at a time.
fn checksum(bytes: &[u8]) -> u32 {
    const STEPS: [u32; 16] = {
        let mut steps = [0; 16];
        let mut i = 0;
        while i < 16 {
            let (mut value, mut bit) = (i as u32, 0);
            while bit < 4 {
                value = if value & 1 == 1 { 0xEDB8_8320 ^ (value >> 1) } else { value >> 1 };
                bit += 1;
            }
            steps[i] = value;
            i += 1;
        }
        steps
    };
    let step = |sum: u32| (sum >> 4) ^ STEPS[(sum & 15) as usize];
    !bytes.iter().fold(u32::MAX, |sum, byte| step(step(sum ^ u32::from(*byte))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Area = Area { x: 0, y: 0, width: 3, height: 2 };

    /// A PNG file as a browser could write it.
    fn png(area: Area, kind: u8, data: &[&[u8]]) -> Vec<u8> {
        let mut out = SIGNATURE.to_vec();
        let size = [area.width, area.height].map(u32::to_be_bytes).concat();
        write_chunk(&mut out, b"IHDR", &[&size, &[8, kind, 0, 0, 0]]);
        write_chunk(&mut out, b"sRGB", &[&[0]]);
        write_chunk(&mut out, b"tEXt", &[b"Software\0a browser"]);
        data.iter().for_each(|data| write_chunk(&mut out, b"IDAT", &[data]));
        out.extend(end());
        out
    }

    #[test]
    fn checksums_are_those_of_the_standard() {
        // The check value of CRC-32/ISO-HDLC, and the chunk that ends every PNG file.
        assert_eq!(checksum(b"123456789"), 0xCBF4_3926);
        assert_eq!(end(), b"\0\0\0\0IEND\xae\x42\x60\x82");
    }

    #[test]
    fn a_change_is_what_differs_and_nothing_else() {
        let before: Vec<u8> = (0..24).map(|i| if i % 4 == 3 { 255 } else { i }).collect();
        assert_eq!(change(&before, &before, 3), None);
        let mut now = before.clone();
        now[4 * 4] = 99;
        let (area, patch) = change(&before, &now, 3).unwrap();
        assert_eq!(area, Area { x: 1, y: 1, width: 1, height: 1 });
        assert_eq!(patch, [99, 17, 18, 255]);
        // Around what stayed.
        now[2 * 4] = 77;
        let (area, patch) = change(&before, &now, 3).unwrap();
        assert_eq!(area, Area { x: 1, y: 0, width: 2, height: 2 });
        assert_eq!(patch, [[0; 4], [77, 9, 10, 255], [99, 17, 18, 255], [0; 4]].concat());
        now[0] = 88;
        assert_eq!(change(&before, &now, 3).unwrap().0, WHOLE);
    }

    #[test]
    fn pictures_are_joined_in_order() {
        let mut film = Film::default();
        let first = film.picture(&png(WHOLE, 6, &[b"first"]), WHOLE, 500).unwrap();
        let part = Area { x: 1, y: 1, width: 2, height: 1 };
        let second = film.picture(&png(part, 6, &[b"sec", b"ond"]), part, 1500).unwrap();
        let file = [film.head(), first, second, end()].concat();
        let kinds: Vec<_> = chunks(&file).unwrap();
        let kinds: Vec<_> = kinds.iter().map(|c| core::str::from_utf8(&c.0).unwrap()).collect();
        let order = ["IHDR", "acTL", "sRGB", "fcTL", "IDAT", "fcTL", "fdAT", "fdAT", "IEND"];
        assert_eq!(kinds, order);
        let of = |at: usize| chunks(&file).unwrap()[at].1;
        assert_eq!(of(1), [0, 0, 0, 2, 0, 0, 0, 0]);
        assert_eq!(of(5)[..4], [0, 0, 0, 1]);
        assert_eq!(of(5)[4..20], [0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1]);
        assert_eq!(of(5)[20..], [0x05, 0xDC, 0x03, 0xE8, 0, 1]);
        assert_eq!((of(6), of(7)), (&b"\0\0\0\x02sec"[..], &b"\0\0\0\x03ond"[..]));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let mut film = Film::default();
        assert!(film.picture(b"GIF89a", WHOLE, 1).is_err());
        let whole = png(WHOLE, 6, &[b"x"]);
        assert!(film.picture(&whole[..whole.len() - 1], WHOLE, 1).is_err(), "cut short");
        film.picture(&whole, WHOLE, 1).unwrap();
        assert!(film.picture(&png(WHOLE, 2, &[b"x"]), WHOLE, 1).is_err(), "another kind of pixels");
        let part = Area { width: 1, ..WHOLE };
        assert!(film.picture(&whole, part, 1).is_err(), "another size");
        assert_eq!(film.pictures(), 1);
    }
}
