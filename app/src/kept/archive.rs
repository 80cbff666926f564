//! Zip archives: a run leaves the page as one file, and may come back as one.

use core::ops::Range;
use std::{
    cell::RefCell,
    io::{self, Write},
    rc::Rc,
};

use rawzip::{
    CompressionMethod, Error, RECOMMENDED_BUFFER_SIZE, ReaderAt, ZipArchive, ZipArchiveWriter,
    time::UtcDateTime,
};

use super::incoming::Refusal;

/// What an archive holds is listed in so many bytes at its end, for all archives that are read.
pub const TAIL: u64 = 4 << 20;
/// What stands before each file but for its name: its size is fixed.
const HEADER: u64 = 30;
const SIGNATURE: &[u8] = b"PK\x03\x04";

/// A file in pieces, one after the other.
pub type Pieces<'a> = Box<dyn Iterator<Item = Vec<u8>> + 'a>;

/// Packs files with their paths, as of so many seconds since 1970. They are not compressed, for weights
/// would hardly get smaller. `give` gets the archive in pieces.
pub async fn pack(
    files: impl IntoIterator<Item = (String, Pieces<'_>)>,
    seconds: i64,
    mut give: impl AsyncFnMut(Vec<u8>),
) -> Result<(), Error> {
    let sink = Sink::default();
    let mut archive = ZipArchiveWriter::new(sink.clone());
    for (path, pieces) in files {
        let file = archive.new_file(&path).last_modified(UtcDateTime::from_unix(seconds));
        let (mut entry, config) = file.start()?;
        let mut data = config.wrap(&mut entry);
        for piece in pieces {
            data.write_all(&piece)?;
            give(sink.take()).await;
        }
        let (_, sums) = data.finish()?;
        entry.finish(sums)?;
    }
    archive.finish()?;
    give(sink.take()).await;
    Ok(())
}

/// What was written and not yet taken.
#[derive(Clone, Default)]
struct Sink(Rc<RefCell<Vec<u8>>>);

impl Sink {
    fn take(&self) -> Vec<u8> {
        self.0.take()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file in an archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub path: String,
    /// Whether it was compressed, by DEFLATE.
    pub is_deflated: bool,
    /// Where what stands before it begins.
    begins: u64,
    /// Bytes that it takes up in the archive.
    length: u64,
}

impl Entry {
    /// Where its header is in the archive.
    pub fn header(&self) -> Range<u64> {
        self.begins..self.begins.saturating_add(HEADER)
    }

    /// Where its bytes are, given its header; `None` if that is none.
    pub fn body(&self, header: &[u8]) -> Option<Range<u64>> {
        let length =
            |at: usize| Some(u64::from(u16::from_le_bytes(*header.get(at..)?.first_chunk()?)));
        let is_header = header.starts_with(SIGNATURE);
        // A name and further fields follow.
        let begins = is_header.then(|| Some(self.header().end + length(26)? + length(28)?))??;
        Some(begins..begins.checked_add(self.length)?)
    }
}

/// The files in an archive of so many bytes, given its last [`TAIL`] bytes, or all if it has less. Files
/// that can't be unpacked are left out.
pub fn entries(tail: &[u8], size: u64) -> Result<Vec<Entry>, Refusal> {
    let mut room = vec![0; RECOMMENDED_BUFFER_SIZE];
    let begins = size - tail.len() as u64;
    let tail = Tail { bytes: tail, begins };
    let found = ZipArchive::with_max_search_space(tail.bytes.len() as u64);
    let archive = found.locate_in_reader(tail, &mut room, size).map_err(|_| Refusal::NotZip)?;
    if archive.directory_offset() < begins {
        return Err(Refusal::LongZip);
    }
    let mut entries = Vec::new();
    let mut listed = archive.entries(&mut room);
    while let Some(entry) = listed.next_entry().map_err(|_| Refusal::NotZip)? {
        let method = entry.compression_method();
        if !entry.is_dir()
            && [CompressionMethod::STORE, CompressionMethod::DEFLATE].contains(&method)
        {
            entries.push(Entry {
                path: String::from_utf8_lossy(entry.file_path().as_bytes()).into_owned(),
                is_deflated: method == CompressionMethod::DEFLATE,
                begins: entry.local_header_offset(),
                length: entry.compressed_size_hint(),
            });
        }
    }
    Ok(entries)
}

/// An archive of which only the end was read.
struct Tail<'a> {
    bytes: &'a [u8],
    begins: u64,
}

impl ReaderAt for Tail<'_> {
    fn read_at(&self, room: &mut [u8], offset: u64) -> io::Result<usize> {
        let from = offset.checked_sub(self.begins).ok_or(io::ErrorKind::UnexpectedEof)?;
        let from = usize::try_from(from).unwrap_or(usize::MAX).min(self.bytes.len());
        let count = room.len().min(self.bytes.len() - from);
        room[..count].copy_from_slice(&self.bytes[from..from + count]);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The archive of these files, each in pieces of three bytes.
    fn packed(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut all = Vec::new();
        let files = files.iter().map(|(path, bytes)| {
            let pieces: Pieces = Box::new(bytes.chunks(3).map(<[u8]>::to_vec));
            ((*path).to_owned(), pieces)
        });
        pollster::block_on(pack(files, 1_800_000_000, async |piece| all.extend(piece))).unwrap();
        all
    }

    /// The files of an archive, of which so many bytes of the end are read at first.
    fn unpacked(archive: &[u8], tail: usize) -> Result<Vec<(String, Vec<u8>)>, Refusal> {
        let tail = &archive[archive.len().saturating_sub(tail)..];
        let entries = entries(tail, archive.len() as u64)?;
        let part = |range: Range<u64>| archive.get(range.start as usize..range.end as usize);
        let files = entries.into_iter().map(|entry| {
            let body = part(entry.body(part(entry.header())?)?)?;
            Some((entry.path, body.to_vec()))
        });
        files.collect::<Option<_>>().ok_or(Refusal::NotZip)
    }

    #[test]
    fn what_is_packed_is_unpacked_also_from_the_end_alone() {
        let long = vec![7; 20_000];
        let files: [(&str, &[u8]); 3] =
            [("a/text.txt", b"abcdefgh"), ("a/long", &long), ("empty", b"")];
        let archive = packed(&files);
        for tail in [archive.len(), 400] {
            let found = unpacked(&archive, tail).unwrap();
            let found: Vec<_> = found.iter().map(|(path, bytes)| (&**path, &**bytes)).collect();
            assert_eq!(found, files, "{tail}");
        }
        // The list of the files is longer than that, or what says where it is.
        assert_eq!(unpacked(&archive, 60), Err(Refusal::LongZip));
        assert_eq!(unpacked(&archive, 10), Err(Refusal::NotZip));
    }

    #[test]
    fn damaged_archives_are_refused_and_nothing_panics() {
        let archive = packed(&[("one", b"some bytes"), ("two", b"and more")]);
        assert!(entries(b"", 0).is_err());
        assert!(entries(b"PK\x03\x04 cut off", 14).is_err());
        for end in 0..archive.len() {
            assert_eq!(unpacked(&archive[..end], end), Err(Refusal::NotZip));
        }
        for at in 0..archive.len() {
            for byte in [0, 1, 0x7f, 0xff] {
                let mut changed = archive.clone();
                changed[at] = byte;
                let _ = unpacked(&changed, changed.len());
            }
        }
    }
}
