//! Tables whose rows follow from a template: `c{i},{i%3},{red|blue}`.

/// The header lines, then so many rows of the last template. A line `|5/10 …` is the template of rows 5, 15, 25, …; a line
/// `|7 …` of row 7 alone.
pub(crate) fn table(rows: usize, content: &[String]) -> Result<String, String> {
    let (special, plain): (Vec<&String>, Vec<&String>) = content
        .iter()
        .partition(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    let plain: Vec<&str> = plain
        .iter()
        .map(|line| line.strip_prefix(' ').unwrap_or(line))
        .collect();
    let (usual, header) = plain.split_last().ok_or("a template is needed")?;
    let mut text: String = header.iter().map(|line| format!("{line}\n")).collect();
    for row in 0..rows {
        let mut own = special.iter().filter_map(|line| line.split_once(' '));
        let own = own.rfind(|(key, _)| is_meant(key, row));
        let template = own.map_or(*usual, |(_, template)| template);
        text += &(filled(template, row)? + "\n");
    }
    Ok(text)
}

/// Whether a key such as `7` or `5/10` means this row.
fn is_meant(key: &str, row: usize) -> bool {
    match key.split_once('/') {
        Some((rest, of)) => of
            .parse()
            .is_ok_and(|of: usize| (row % of).to_string() == rest),
        None => row.to_string() == key,
    }
}

fn filled(template: &str, row: usize) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (inside, after) = after.split_once('}').ok_or("a brace is open")?;
        let choices: Vec<&str> = inside.split('|').collect();
        text += before;
        text += &match choices[..] {
            [expression] => number(expression, row)?.to_string(),
            _ => choices[row % choices.len()].to_owned(),
        };
        rest = after;
    }
    Ok(text + rest)
}

/// `i` is the row, `h7` a number without a pattern that depends on the row; operators are taken from left to right.
fn number(expression: &str, row: usize) -> Result<usize, String> {
    let mut value = 0;
    let mut operator = '+';
    let mut rest = expression;
    loop {
        let end = rest.find(['+', '*', '/', '%']).unwrap_or(rest.len());
        let operand = match &rest[..end] {
            "i" => row,
            term if term.starts_with('h') => {
                hash(row as u64 * 100 + term[1..].parse().unwrap_or(0))
            }
            term => term
                .parse()
                .map_err(|_| format!("'{term}' in '{expression}'"))?,
        };
        value = match operator {
            '+' => value + operand,
            '*' => value * operand,
            '/' => value / operand,
            _ => value % operand,
        };
        let Some(next) = rest[end..].chars().next() else {
            return Ok(value);
        };
        operator = next;
        rest = &rest[end + 1..];
    }
}

/// Numbers without a pattern (SplitMix64), small enough to be multiplied.
fn hash(x: u64) -> usize {
    let z = (x + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 24) as usize
}
