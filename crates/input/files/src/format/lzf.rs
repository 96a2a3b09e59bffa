//! LZF, by which h5py packs arrays where `compression="lzf"` is asked for.

use hdf5_reader::error::Error;

/// The number of the filter in HDF5.
pub(super) const FILTER: u16 = 32000;

/// The bytes that were packed: runs of up to 32 bytes as they are, and references to what came up to 8 KiB before.
///
/// # Errors
/// For what ends too early, or refers to what is not there.
pub(super) fn unpack(packed: &[u8]) -> Result<Vec<u8>, Error> {
    let mut out = Vec::with_capacity(packed.len());
    let mut rest = packed;
    while !rest.is_empty() {
        let done = step(rest, &mut out);
        rest =
            done.ok_or_else(|| Error::InvalidData("an array packed by LZF is damaged".into()))?;
    }
    Ok(out)
}

/// One run or reference; the bytes behind it.
fn step<'a>(packed: &'a [u8], out: &mut Vec<u8>) -> Option<&'a [u8]> {
    let (&control, rest) = packed.split_first()?;
    let control = usize::from(control);
    if control < 32 {
        let (run, rest) = rest.split_at_checked(control + 1)?;
        out.extend_from_slice(run);
        return Some(rest);
    }
    let (mut length, mut rest) = (control >> 5, rest);
    if length == 7 {
        let (&more, behind) = rest.split_first()?;
        length += usize::from(more);
        rest = behind;
    }
    let (&low, rest) = rest.split_first()?;
    let distance = ((control & 31) << 8 | usize::from(low)) + 1;
    let start = out.len().checked_sub(distance)?;
    // A reference may reach into what it writes.
    for at in start..start + length + 2 {
        out.push(out[at]);
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_and_references_unpack_and_damage_is_said() {
        // "abc", then three from three before and on, then nine of the last.
        let packed = [&[2][..], b"abc", &[1 << 5, 2], &[7 << 5, 0, 0]].concat();
        assert_eq!(
            unpack(&packed).unwrap(),
            [&b"abcabc"[..], &[b'c'; 9]].concat()
        );
        assert!(unpack(&packed[..7]).is_err());
        assert!(unpack(&[32, 9]).is_err());
        assert!(unpack(&[5, 1]).is_err());
    }
}
