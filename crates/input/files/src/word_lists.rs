//! Lists of words, all in small letters where nothing else is said; [`words`](crate::words) says what each says of a column or a value.

/// Labels that programs give to objects without a cluster.
pub(crate) const NO_CLUSTER: &[&str] = &[
    "-",
    "--",
    "—",
    "–",
    ".",
    "..",
    "...",
    "n.a.",
    "n/d",
    "nd",
    "k.a.",
    "k. a.",
    "keine angabe",
    "not available",
    "no data",
    "missing",
    "unassigned",
    "not assigned",
    "unknown",
    "unclassified",
    "unlabeled",
    "unlabelled",
    "undefined",
    "noise",
    "outlier",
    "outliers",
];

/// Words that say of a column of numbers that there is no value: of laboratories, of official statistics, of spreadsheets; without points
/// and blanks.
pub(crate) const NO_VALUE: &str = "nd na nm nb ka sd oa od bd lod loq <lod <loq bdl nan tbd dk x / --- notdetected undetected undetermined notapplicable \
    notreported notmeasured noanswer refused don'tknow suppressed unreliable varieswithdevice sindatos nondisponible ohneangabe weißnicht \
    \\n (null) [null] nat #div/0! #value! #wert! #ref! #bezug! #num! #zahl! #name? #null! #n/v #nv";

/// Words for a price of 0.
pub(crate) const FREE: &[&str] = &["free", "gratis", "kostenlos", "gratuit", "gratuito", "nil"];

/// Names of a column that says what the objects are called where all its values differ, and of a first column that does so whatever it
/// holds if it is among the first three. pandas leaves the name of an index empty, and calls it `Unnamed: 0` when it writes
/// again what it has read.
pub(crate) const OBJECTS: &[&str] = &[
    "object",
    "id",
    "name",
    "",
    "unnamed: 0",
    "cell",
    "cell_id",
    "barcode",
    "sample",
    "sample_id",
    "index",
    "object_id",
    "row",
    "gene",
    "patient",
    "subject",
    "participant",
    "respondent",
    "customer",
    "country",
    "city",
    "account",
    "konto",
    "kunde",
    "probe",
    "uuid",
    "serial",
    "key",
    "phone",
    "ean",
    "sku",
    "rownames",
    "no",
    "nr",
    "#",
    "mrn",
    "bib",
    "isbn",
    "gtin",
    "iban",
    "imei",
    "n°",
    "nº",
    "lfd. nr",
];

/// How many of them are names of objects in a first column even where two values are alike.
pub(crate) const SURE: usize = 5;

/// How names of ids end.
pub(crate) const IDS: &[&str] = &[
    "id", "number", "nummer", "nr", "no", "account", "key", "num", "numéro", "numero", "número",
    "n°", "nº", "ref",
];

/// What ids are of, where nothing stands between: `userid`.
pub(crate) const ID_OF: &[&str] = &[
    "f",
    "i",
    "case",
    "user",
    "customer",
    "client",
    "player",
    "record",
    "student",
    "patient",
    "subject",
    "sample",
    "order",
    "product",
    "item",
    "employee",
    "member",
    "respondent",
    "participant",
    "movie",
    "track",
    "store",
    "host",
    "device",
    "invoice",
    "transaction",
    "passenger",
    "object",
    "account",
    "session",
    "station",
    "stations",
];

/// Names of columns of telephone numbers, whole or as one of several words.
pub(crate) const PHONES: &[&str] = &[
    "phone",
    "telephone",
    "telefon",
    "tel",
    "mobile",
    "mobil",
    "handy",
    "fax",
    "téléphone",
    "teléfono",
    "telefono",
    "móvil",
    "msisdn",
    "whatsapp",
];

/// Names of columns of durations, whole or as one of several words.
pub(crate) const DURATIONS: &[&str] = &[
    "duration",
    "dauer",
    "durée",
    "duree",
    "duración",
    "duracion",
    "duração",
    "durata",
    "elapsed",
    "pace",
    "split",
    "lap",
    "finish",
    "half",
    "net",
    "gun",
    "chip",
    "moving",
    "running",
    "runtime",
    "length",
    "laufzeit",
    "fahrzeit",
    "swim",
    "bike",
    "run",
    "recovery",
    "response",
    "waiting",
    "travel",
    "turnaround",
    "hold",
    "talk",
    "handle",
    "delay",
    "average",
    "avg",
    "mean",
    "median",
    "best",
    "fastest",
    "5k",
    "10k",
    "15k",
    "20k",
];

/// Names of columns of the labels of a clustering, whole or as one of several words.
pub(crate) const CLUSTERINGS: &[&str] = &[
    "cluster",
    "clusters",
    "clustering",
    "clusterid",
    "leiden",
    "louvain",
    "kmeans",
    "hdbscan",
    "dbscan",
    "phenograph",
    "flowsom",
    "snn",
];

/// What a column of numbers about clusters is of.
pub(crate) const OF_CLUSTERS: &[&str] = &[
    "size",
    "distance",
    "dist",
    "count",
    "score",
    "probability",
    "prob",
    "n",
];

/// Names of columns of points in time, whole or as one of several words.
pub(crate) const TIMES: &[&str] = &[
    "time",
    "timestamp",
    "date",
    "datetime",
    "datum",
    "zeit",
    "epoch",
    "unix",
    "unixtime",
    "elapsed",
    "year",
    "jahr",
    "month",
    "day",
    "ts",
    "created",
    "updated",
    "uptime",
    "millis",
    "zeitstempel",
    "zeitpunkt",
    "uhrzeit",
    "fecha",
    "hora",
    "jour",
    "année",
    "annee",
    "año",
    "ano",
    "monat",
    "mois",
    "mes",
    "utc",
    "dob",
];

/// Names of columns of numbers that stand for places and kinds, whole or as one of several words.
pub(crate) const CODES: &[&str] = &[
    "zip",
    "zipcode",
    "postcode",
    "plz",
    "fips",
    "naics",
    "sic",
    "code",
    "region",
    "district",
    "postal",
    "postleitzahl",
    "código",
    "codigo",
    "pin",
    "pincode",
    "insee",
    "ags",
    "geoid",
    "nuts",
    "siren",
    "ape",
    "nace",
    "isic",
    "mcc",
    "mnc",
    "département",
    "departement",
    "department",
    "filiale",
    "branch",
];

/// Names of a column of true classes.
pub(crate) const CLASSES: &[&str] = &["label", "truth"];

/// Names of columns that are the truth more often than not.
pub(crate) const MAYBE_CLASSES: &[&str] = &[
    "label",
    "labels",
    "truth",
    "ground_truth",
    "groundtruth",
    "ground truth",
    "gt",
    "true_label",
    "true_labels",
    "class",
    "classes",
    "target",
    "celltype",
    "cell_type",
    "cell type",
    "cell_label",
    "species",
    "population",
    "celltypes",
    "cell types",
    "annotation",
    "phenotype",
    "subtype",
    "klasse",
    "classe",
    "clase",
];

/// What the classes may be called in an archive; the first is how we write them.
pub(crate) const CLASS_ARRAYS: &[&str] = &["y", "truth", "gt", "label", "target", "gnd"];

/// The column with the parts of the original data set.
pub(crate) const SPLIT: &str = "split";

/// Columns that stand beside labels and are not such.
pub(crate) const BESIDE_LABELS: &[&str] =
    &[SPLIT, "agreement", "probability", "certainty", "confidence"];

/// Names of columns that weigh the objects more often than not.
pub(crate) const WEIGHTS: &[&str] = &[
    "weight",
    "weights",
    "object_weight",
    "object_weights",
    "sample_weight",
    "multiplicity",
    "survey_weight",
    "survey_weights",
    "design_weight",
    "freq_weight",
    "person_weight",
    "household_weight",
    "case_weight",
    "pweight",
    "fweight",
    "fnlwgt",
    "wgt",
];

/// What sums and means of columns are called in spreadsheets.
pub(crate) const SUMS: &[&str] = &[
    "total",
    "totals",
    "grand total",
    "sum",
    "mean",
    "average",
    "gesamt",
    "summe",
    "insgesamt",
    "mittelwert",
    "durchschnitt",
    "subtotal",
    "total général",
    "total general",
    "sous-total",
    "gesamtsumme",
    "gesamtergebnis",
    "totale",
    "totaal",
    "suma",
    "soma",
    "razem",
    "итого",
    "всего",
    "合計",
    "合计",
    "总计",
    "moyenne",
    "promedio",
    "media",
];

/// What else is counted below a column, beside its sum or mean.
pub(crate) const BESIDE_SUMS: &[&str] = &[
    "max",
    "min",
    "maximum",
    "minimum",
    "median",
    "std",
    "std dev",
    "std. dev",
    "stdev",
    "stddev",
    "sd",
    "standard deviation",
    "count",
    "n",
    "variance",
    "range",
    "%",
];
