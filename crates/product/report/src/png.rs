//! PNG pictures of numbers in 0 to 1, in base 64.

use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::{Compression, Crc, write::ZlibEncoder};

/// The full colour.
const SHADE: [u8; 3] = [0, 104, 170];

/// A picture of numbers in 0..=1, row by row: 0 is transparent, 1 the full colour, so that it sits on any ground.
/// Returns the file in base 64.
pub(crate) fn shares(width: usize, values: &[f32]) -> String {
    let height = values.len() / width.max(1);
    let mut header = [(width as u32).to_be_bytes(), (height as u32).to_be_bytes()].concat();
    // Eight bits a pixel, which index a palette.
    header.extend([8, 3, 0, 0, 0]);
    let palette: Vec<u8> = (0..256).flat_map(|_| SHADE).collect();
    let opacity: Vec<u8> = (0..=255).collect();
    let mut rows = Vec::with_capacity(values.len() + height);
    for row in values.chunks(width.max(1)) {
        rows.push(0);
        rows.extend(
            row.iter()
                .map(|&share| (255.0 * share.clamp(0.0, 1.0)).round() as u8),
        );
    }
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&rows).expect("a vector takes all bytes");
    let packed = packed.finish().expect("a vector takes all bytes");
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, data) in [
        (*b"IHDR", &header),
        (*b"PLTE", &palette),
        (*b"tRNS", &opacity),
        (*b"IDAT", &packed),
        (*b"IEND", &vec![]),
    ] {
        chunk(&mut file, name, data);
    }
    STANDARD.encode(&file)
}

fn chunk(file: &mut Vec<u8>, name: [u8; 4], data: &[u8]) {
    file.extend((data.len() as u32).to_be_bytes());
    let mut crc = Crc::new();
    crc.update(&name);
    crc.update(data);
    file.extend(name);
    file.extend(data);
    file.extend(crc.sum().to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_a_png() {
        let text = shares(2, &[0.0, 1.0, 0.5, 2.0]);
        assert!(
            text.starts_with("iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAMAAA"),
            "{text}"
        );
    }
}
