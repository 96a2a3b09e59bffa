//! Paths in JSON: as text where they are text, else as the list of their bytes. `#[serde(with = "path_text")]` writes them so.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::Value;

/// A path, none, or several.
pub(crate) trait PathText: Sized {
    fn to_json(&self) -> Value;
}

/// What is read back as it was written.
pub(crate) trait FromPathText: Sized {
    fn from_json(saved: Value) -> Option<Self>;
}

impl PathText for PathBuf {
    fn to_json(&self) -> Value {
        self.as_path().to_json()
    }
}

impl PathText for &Path {
    fn to_json(&self) -> Value {
        match self.to_str() {
            Some(text) => text.into(),
            None => self.as_os_str().as_encoded_bytes().into(),
        }
    }
}

impl<T: PathText> PathText for Option<T> {
    fn to_json(&self) -> Value {
        self.as_ref().map_or(Value::Null, PathText::to_json)
    }
}

impl<T: PathText> PathText for Vec<T> {
    fn to_json(&self) -> Value {
        self.iter().map(PathText::to_json).collect()
    }
}

impl FromPathText for PathBuf {
    fn from_json(saved: Value) -> Option<Self> {
        match saved {
            Value::String(text) => Some(text.into()),
            saved => {
                let bytes: Vec<u8> = serde_json::from_value(saved).ok()?;
                #[cfg(unix)]
                let text: OsString = std::os::unix::ffi::OsStringExt::from_vec(bytes);
                #[cfg(not(unix))]
                let text = OsString::from(String::from_utf8(bytes).ok()?);
                Some(text.into())
            }
        }
    }
}

impl<T: FromPathText> FromPathText for Option<T> {
    fn from_json(saved: Value) -> Option<Self> {
        match saved {
            Value::Null => Some(None),
            saved => T::from_json(saved).map(Some),
        }
    }
}

impl<T: FromPathText> FromPathText for Vec<T> {
    fn from_json(saved: Value) -> Option<Self> {
        let Value::Array(all) = saved else {
            return None;
        };
        all.into_iter().map(T::from_json).collect()
    }
}

pub(crate) fn serialize<S: Serializer>(
    path: &impl PathText,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    path.to_json().serialize(serializer)
}

pub(crate) fn deserialize<'de, T: FromPathText, D: Deserializer<'de>>(
    saved: D,
) -> Result<T, D::Error> {
    let wrong = || de::Error::custom("a path is a text, or the list of its bytes");
    T::from_json(Value::deserialize(saved)?).ok_or_else(wrong)
}
