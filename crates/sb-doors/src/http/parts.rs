//! Parts of a request's address, taken so that a bad one is refused in JSON like everything else.

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::error::{Code, HttpError};

/// The variable segments of the path.
pub(crate) struct Segments<T>(pub T);

/// The query's parameters.
pub(crate) struct Parameters<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Segments<T> {
    type Rejection = HttpError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpError> {
        let found = Path::<T>::from_request_parts(parts, state).await;
        found.map(|Path(segments)| Self(segments)).map_err(|_| {
            HttpError::new(Code::NotFound, "The address has bytes that are no text, so nothing is there.")
        })
    }
}

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Parameters<T> {
    type Rejection = HttpError;
    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, HttpError> {
        let found = Query::<T>::from_request_parts(parts, state).await;
        found.map(|Query(parameters)| Self(parameters)).map_err(|why| {
            HttpError::new(Code::BadField, format!("The query is not understood: {}.", why.body_text()))
        })
    }
}
