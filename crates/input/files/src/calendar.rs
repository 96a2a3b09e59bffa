//! Dates, periods, times of the day and durations, in the notations that people and programs write.

/// Names of months in English; three letters of one are enough.
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

/// Names of months in German, French, Spanish, Italian, Portuguese, Dutch, Russian, Polish and Czech; four letters of one are enough.
const OTHER_MONTHS: &str = "januar februar märz maerz mai juni juli oktober dezember janvier février fevrier mars avril juin juillet \
    août aout septembre octobre novembre décembre decembre enero febrero marzo abril mayo junio julio agosto septiembre octubre \
    noviembre diciembre gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre janeiro fevereiro março maio junho \
    julho setembro outubro novembro dezembro januari februari maart mei augustus января февраля марта апреля мая июня июля августа \
    сентября октября ноября декабря stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia \
    ledna února března dubna května června července srpna září října listopadu prosince";

/// Shorter ones that are no English words.
const SHORT_MONTHS: [&str; 10] = [
    "mär", "okt", "dez", "fév", "avr", "déc", "ene", "abr", "dic", "mrt",
];

/// Words beside a date: days of the week by three letters or more, halves of the day, time zones, and words between the parts.
const BESIDE: &str = "monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag \
    sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves viernes sábado domingo";
const BESIDE_WHOLE: [&str; 25] = [
    "г.", "mo", "di", "mi", "do", "fr", "sa", "so", "am", "pm", "a.m.", "p.m.", "a.m", "p.m",
    "uhr", "z", "utc", "gmt", "cet", "cest", "est", "edt", "pst", "pdt", "de",
];

/// Whether a text is a date, a period such as a month, or a time of the day.
pub(crate) fn is_date(text: &str) -> bool {
    if text.contains(['年', '月']) {
        return is_date(&text.replace(['年', '月'], "-").replace('日', " "));
    }
    if let Some(hour) = text.strip_suffix(" Uhr") {
        return is_date(&hour.replacen('.', ":", 1)) || is_date(hour);
    }
    let mut timed = false;
    let mut rest: Vec<&str> = Vec::new();
    let parts = text.split(|letter: char| letter.is_whitespace() || letter == ',');
    for part in parts.filter(|part| !part.is_empty()) {
        let mut marks = part.match_indices(['T', '_', ':']).map(|(at, _)| at);
        if is_time(part) {
            timed = true;
        } else if let Some(at) = marks.find(|&at| is_time(&part[at + 1..])) {
            timed = true;
            rest.push(&part[..at]);
        } else if is_month(part) || !stands_beside(part) {
            rest.push(part);
        }
    }
    match &*rest {
        [] => timed,
        [day] => is_day(day) || is_period(day) || names_month(day) || is_glued(day),
        [year, part] | [part, year] if is_year(year) && is_part_of_year(part) => true,
        parts => names_month(&parts.join(" ")),
    }
}

/// The seconds of a duration such as 1:23:45 or 4:05.2; of two numbers the first are minutes.
pub(crate) fn duration(text: &str) -> Option<f64> {
    if let Some(parts) = text.strip_prefix('P') {
        return iso_duration(parts);
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let parts: Vec<&str> = whole.split(':').collect();
    let (first, rest) = parts.split_first()?;
    let fits = (1..=2).contains(&rest.len())
        && are_digits(first)
        && first.len() <= 4
        && rest
            .iter()
            .all(|part| part.len() == 2 && are_digits(part) && *part < "60")
        && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let sum = |sum: f64, part: &&str| Some(60.0 * sum + part.parse::<f64>().ok()?);
    let seconds = parts.iter().try_fold(0.0, sum).filter(|_| fits)?;
    Some(seconds + format!("0.{fraction}0").parse::<f64>().unwrap_or(0.0))
}

/// The seconds of a duration by ISO 8601 behind its P: 1DT2H, T1H20M, T45.5S.
fn iso_duration(text: &str) -> Option<f64> {
    let (days, times) = text.split_once('T').unwrap_or((text, ""));
    let sum = |text: &str, units: &[(char, f64)]| {
        let mut rest = text;
        let mut sum = 0.0;
        while !rest.is_empty() {
            let end = rest.find(|letter: char| letter.is_ascii_alphabetic())?;
            let (_, seconds) = units
                .iter()
                .find(|(unit, _)| rest[end..].starts_with(*unit))?;
            sum += rest[..end].parse::<f64>().ok()? * seconds;
            rest = &rest[end + 1..];
        }
        Some(sum)
    };
    let of_days = sum(days, &[('W', 604_800.0), ('D', 86_400.0)])?;
    let of_times = sum(times, &[('H', 3600.0), ('M', 60.0), ('S', 1.0)])?;
    (text.len() > 1).then_some(of_days + of_times)
}

/// Whether a whole number is a year and a month without a mark, such as 202401.
pub(crate) fn is_compact_month(value: f64) -> bool {
    let (year, month) = (value / 100.0, value % 100.0);
    value.fract() == 0.0 && (1800.0..2200.0).contains(&year) && (1.0..=12.0).contains(&month)
}

/// Whether a whole number is a date without marks, such as 20240131 or 202401311230.
pub(crate) fn is_compact(value: f64) -> bool {
    if value.fract() != 0.0 || !(1.8e7..2.2e13).contains(&value) {
        return false;
    }
    let text = format!("{value}");
    let part = |from: usize| text.get(from..from + 2).and_then(|part| part.parse().ok());
    let within = |from: usize, most: u32| part(from).is_none_or(|part: u32| part <= most);
    [8, 10, 12, 14].contains(&text.len())
        && is_year(&text[..4])
        && part(4).is_some_and(|month: u32| (1..=12).contains(&month))
        && part(6).is_some_and(|day: u32| (1..=31).contains(&day))
        && within(8, 24)
        && within(10, 59)
        && within(12, 60)
}

fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && are_digits(text) && ("1800".."2200").contains(&text)
}

/// A word that stands beside a date: a day of the week, a half of the day, a time zone.
fn stands_beside(part: &str) -> bool {
    let small = part.to_lowercase();
    let word = small.trim_end_matches('.');
    let zone = ["gmt", "utc", ""]
        .iter()
        .filter_map(|zone| small.strip_prefix(zone))
        .filter_map(|offset| offset.strip_prefix(['+', '-']))
        .any(|offset| offset.len() <= 5 && are_digits(&offset.replace(':', "")));
    BESIDE_WHOLE.contains(&&*small)
        || zone
        || word.chars().count() >= 3 && BESIDE.split_whitespace().any(|day| day.starts_with(word))
}

/// Such as 12:30 or 12:30:59.5, with a time zone behind it or not.
fn is_time(text: &str) -> bool {
    let small = text.to_lowercase();
    let text = small.trim_end_matches(['z', 'a', 'p', 'm']);
    let marks = |byte: u8| byte.is_ascii_digit() || b":.+-".contains(&byte);
    let time = text.split(['+', '.', '-']).next().unwrap_or_default();
    let parts: Vec<&str> = time.split(':').collect();
    let numbers = parts
        .iter()
        .all(|part| (1..=2).contains(&part.len()) && are_digits(part));
    (2..=3).contains(&parts.len()) && numbers && text.bytes().all(marks)
}

/// Three numbers with one mark between them: one a year, or all of two digits, or of one or two between slashes.
fn is_day(day: &str) -> bool {
    ['-', '/', '.'].iter().any(|&mark| {
        let parts: Vec<&str> = day.split(mark).collect();
        let numbers = parts
            .iter()
            .all(|part| (1..=4).contains(&part.len()) && are_digits(part));
        let years = parts.iter().filter(|part| part.len() == 4).count();
        let short = |part: &&str| part.len() == 2 || mark == '/' && part.len() == 1;
        let is_short = || parts.iter().all(short) && parts[2].len() == 2;
        parts.len() == 3 && numbers && (years == 1 || years == 0 && is_short())
    })
}

/// Such as 2024-05, 5/2024, 2024Q1, Q1-2024, 2024-W05 or the season 2023/24.
fn is_period(text: &str) -> bool {
    let by_mark = text.split_once(['-', '/']);
    let glued = || text.split_at_checked(4);
    let Some((a, b)) = by_mark.or_else(glued) else {
        return false;
    };
    let month = |part: &str| {
        by_mark.is_some()
            && part.len() <= 2
            && part.parse().is_ok_and(|at: u32| (1..=12).contains(&at))
    };
    let next_year = |year: &str, part: &str| {
        let next = year.parse::<u32>().map(|year| (year + 1) % 100);
        part.len() == 2 && part.parse() == next
    };
    is_year(a) && (month(b) || is_part_of_year(b) || by_mark.is_some() && next_year(a, b))
        || is_year(b) && (month(a) || is_part_of_year(a))
}

/// A quarter, half, week or month of a year: Q1, H2, W05, M11.
fn is_part_of_year(part: &str) -> bool {
    let most = |kind: char| match kind.to_ascii_uppercase() {
        'Q' => 4,
        'H' | 'S' => 2,
        'W' => 53,
        'M' => 12,
        _ => 0,
    };
    let mut letters = part.chars();
    let kind = letters.next().unwrap_or_default();
    let number = letters.as_str();
    are_digits(number)
        && number.len() <= 2
        && number
            .parse()
            .is_ok_and(|at: u32| (1..=most(kind)).contains(&at))
}

/// A day, the name of a month and a year without marks between them, such as 01MAR2021.
fn is_glued(text: &str) -> bool {
    let month = text.trim_matches(|letter: char| letter.is_ascii_digit());
    let parts = text.split_once(month).filter(|_| is_month(month));
    parts.is_some_and(|(day, year)| day.len() == 2 && [2, 4].contains(&year.len()))
}

/// The name of a month beside one or two numbers, such as 1-Jan-2024, Jan 5, 2024 or 5. März.
fn names_month(text: &str) -> bool {
    let parts: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|part| !part.is_empty())
        .collect();
    let is_number = |part: &str| {
        let digits = part.trim_end_matches(['s', 't', 'n', 'd', 'r', 'h', 'e']);
        digits.len() <= 4 && are_digits(digits) && (digits.len() == part.len() || digits.len() <= 2)
    };
    let months = parts.iter().filter(|part| is_month(part)).count();
    let numbers = parts.iter().filter(|part| is_number(part)).count();
    months == 1 && (1..=2).contains(&numbers) && months + numbers == parts.len()
}

/// Whether a word is the name of a month, or enough letters of one.
fn is_month(word: &str) -> bool {
    let word = word.to_lowercase();
    let letters = word.chars().count();
    letters >= 3 && MONTHS.iter().any(|month| month.starts_with(&word))
        || SHORT_MONTHS.contains(&&*word)
        || OTHER_MONTHS
            .split_whitespace()
            .any(|month| month == word || letters >= 4 && month.starts_with(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_many_countries() {
        for text in [
            "2024-01-31",
            "31.1.2024",
            "1/31/2024",
            "5/1/24",
            "2024-01-31T12:30:00Z",
            "2024-05-01T10:00:00+02:00",
            "2024-05-01 10:22:33 -0400",
            "2024/05/01 10:22:33 AM GMT+2",
            "5/1/2024, 9:15 PM",
            "12:30",
            "1:05PM",
            "1-Jan-2024",
            "Jan 5, 2024, 7:15:00 AM",
            "3. März 2024",
            "3 de marzo de 2024",
            "1 février 2024",
            "Thu May 02 10:22:33 2024",
            "Mai 2023",
            "July 4th",
            "2024-05",
            "5/2024",
            "2023/24",
            "Q1 2024",
            "2024Q3",
            "2024-W05",
            "01MAR2021",
            "01/Mar/2024:07:11:02 +0100",
            "2024年1月31日",
            "31 января 2024 г.",
            "7.30 Uhr",
        ] {
            assert!(is_date(text), "{text}");
        }
        for text in [
            "10.1.2",
            "1-2-3",
            "Set 1",
            "Out 3",
            "MARCH1",
            "12abc2021",
            "5 cells",
            "36/38",
            "120/80",
            "12-34",
            "Q1",
            "12:3x",
            "12/3/8",
            "T 1 Jan 2 3",
            "2024/30",
            "1st",
            "de 5",
        ] {
            assert!(!is_date(text), "{text}");
        }
    }

    #[test]
    fn durations_are_seconds() {
        for (text, seconds) in [
            ("1:23:45", Some(5025.0)),
            ("4:05", Some(245.0)),
            ("75:00.5", Some(4500.5)),
            ("PT1H20M", Some(4800.0)),
            ("P1DT2S", Some(86_402.0)),
            ("P", None),
            ("P12", None),
            ("1:75", None),
            ("12", None),
            ("a:05", None),
        ] {
            assert_eq!(duration(text), seconds, "{text}");
        }
    }

    #[test]
    fn dates_without_marks() {
        let dates = [20_240_131.0, 202_401_312_359.0, 20_240_131_235_959.0];
        assert!(dates.into_iter().all(is_compact));
        let others = [20_241_301.0, 2024.0, 12_345_678.0, 2.5e7, 20_240_131.5];
        assert!(!others.into_iter().any(is_compact));
    }
}
