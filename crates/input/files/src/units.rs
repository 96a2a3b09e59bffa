//! Units, currencies and powers of ten behind numbers.

/// What stands before or behind amounts of money: signs, codes (ISO 4217), and what else is written.
pub(crate) const CURRENCIES: [&str; 71] = [
    "US$", "R$", "A$", "C$", "CA$", "AU$", "NZ$", "HK$", "S$", "$", "€", "£", "¥", "₹", "₽", "₩",
    "₺", "₴", "₪", "₫", "₱", "฿", "円", "元", "AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK",
    "EUR", "GBP", "HKD", "HUF", "IDR", "ILS", "INR", "JPY", "KRW", "MXN", "NOK", "NZD", "PLN",
    "RON", "RUB", "SEK", "SGD", "THB", "TRY", "TWD", "UAH", "USD", "VND", "ZAR", "Rs.", "Rs", "Rp",
    "kr.", "kr", "Kr", "zł", "Kč", "Ft", "lei", "руб.", "руб", "р.", "Fr.", "\\", "￥",
];

/// Words and letters for powers of ten behind numbers.
pub(crate) const MAGNITUDES: [(&str, f64); 27] = [
    ("k", 1e3),
    ("K", 1e3),
    ("Tsd", 1e3),
    ("thousand", 1e3),
    ("M", 1e6),
    ("m", 1e6),
    ("mn", 1e6),
    ("mln", 1e6),
    ("Mio", 1e6),
    ("mio", 1e6),
    ("million", 1e6),
    ("millions", 1e6),
    ("B", 1e9),
    ("b", 1e9),
    ("bn", 1e9),
    ("Mrd", 1e9),
    ("mrd", 1e9),
    ("billion", 1e9),
    ("T", 1e12),
    ("tn", 1e12),
    ("trillion", 1e12),
    ("Lakh", 1e5),
    ("lakh", 1e5),
    ("Cr", 1e7),
    ("Crore", 1e7),
    ("万", 1e4),
    ("億", 1e8),
];

/// Units of one kind, and how much of the first each is.
pub(crate) const UNITS: [&[(&str, f64)]; 8] = [
    &[
        ("B", 1.0),
        ("bytes", 1.0),
        ("KB", 1e3),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("TB", 1e12),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
    ],
    &[("K", 1e3), ("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)],
    &[
        ("g", 1.0),
        ("mg", 1e-3),
        ("mcg", 1e-6),
        ("µg", 1e-6),
        ("ug", 1e-6),
        ("kg", 1e3),
        ("t", 1e6),
        ("lb", 453.592_37),
        ("oz", 28.349_523),
    ],
    &[
        ("m", 1.0),
        ("nm", 1e-9),
        ("µm", 1e-6),
        ("um", 1e-6),
        ("mm", 1e-3),
        ("cm", 1e-2),
        ("km", 1e3),
        ("in", 0.0254),
        ("\"", 0.0254),
        ("ft", 0.3048),
        ("'", 0.3048),
        ("yd", 0.9144),
        ("mi", 1609.344),
    ],
    &[
        ("s", 1.0),
        ("ms", 1e-3),
        ("sec", 1.0),
        ("second", 1.0),
        ("min", 60.0),
        ("Min", 60.0),
        ("minute", 60.0),
        ("h", 3600.0),
        ("hr", 3600.0),
        ("Std", 3600.0),
        ("hour", 3600.0),
        ("d", 86_400.0),
        ("day", 86_400.0),
        ("week", 604_800.0),
        ("m", 60.0),
    ],
    &[
        ("mo", 1.0),
        ("month", 1.0),
        ("Monat", 1.0),
        ("Monate", 1.0),
        ("y", 12.0),
        ("yr", 12.0),
        ("year", 12.0),
        ("Jahr", 12.0),
        ("Jahre", 12.0),
    ],
    &[
        ("l", 1.0),
        ("L", 1.0),
        ("ml", 1e-3),
        ("mL", 1e-3),
        ("cl", 1e-2),
        ("dl", 1e-1),
        ("µl", 1e-6),
    ],
    &[
        ("W", 1.0),
        ("kW", 1e3),
        ("MW", 1e6),
        ("Hz", 1.0),
        ("kHz", 1e3),
        ("MHz", 1e6),
        ("GHz", 1e9),
    ],
];

/// Whether this is a unit of this name, or several.
fn is_unit(unit: &str, name: &str) -> bool {
    unit == name || name.len() > 1 && unit.strip_suffix('s') == Some(name)
}

/// How much of the first of a kind each of these units is.
pub(crate) fn in_kind(units: &[&str], kind: &[(&str, f64)]) -> Option<Vec<f64>> {
    let of = |unit: &&str| {
        let known = kind.iter().find(|(name, _)| is_unit(unit, name));
        known.map(|(_, factor)| *factor)
    };
    units.iter().map(of).collect()
}

/// How much of one of them each of these units is, if they are of one kind; magnitudes stand beside plain numbers too.
pub(crate) fn factors(units: &[&str]) -> Option<Vec<f64>> {
    let plain = |unit: &str| if unit.is_empty() { Some(1.0) } else { None };
    let magnitude = |unit: &&str| {
        let known = in_kind(&[unit.trim_end_matches('.')], &MAGNITUDES);
        let known = known.map(|found| found[0]).or_else(|| plain(unit));
        known.filter(|_| !["m", "b", "T", "tn", "Cr"].contains(unit))
    };
    let found: Option<Vec<f64>> = units.iter().map(magnitude).collect();
    found.or_else(|| UNITS.iter().find_map(|kind| in_kind(units, kind)))
}

/// Whether a column may have this unit: one that is known, a currency, % or none.
pub(crate) fn is_known_unit(unit: &str) -> bool {
    unit.is_empty() || unit == "%" || is_common_unit(unit) || CURRENCIES.contains(&unit)
}

/// Whether this is a unit that many tables have, which may stand behind a number without a blank.
pub(crate) fn is_common_unit(unit: &str) -> bool {
    let own = UNITS.iter().flat_map(|kind| kind.iter());
    unit.len() > 1 && own.clone().any(|(name, _)| is_unit(unit, name))
        || [
            "k", "K", "M", "G", "m", "s", "g", "h", "W", "l", "L", "+", "N", "S", "E",
        ]
        .contains(&unit)
        || unit.starts_with('°')
}
