//! A stand-in model server inside this process, which notes when it was asked and when it had answered.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use anyhow::{Context, Result};
use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::serve::ListenerExt;
use futures_util::StreamExt;
use tokio::net::TcpListener;

use crate::models::{Models, router};

/// When the newest request came, and when the last piece of its answer was handed to the connection.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks {
    arrived: Option<Instant>,
    answered: Option<Instant>,
}

/// The running stand-in.
pub(super) struct Model {
    pub address: String,
    models: Models,
    marks: Arc<Mutex<Marks>>,
}

impl Model {
    pub async fn serve() -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let listener = listener.tap_io(|socket| drop(socket.set_nodelay(true)));
        let (models, marks) = (Models::default(), Arc::<Mutex<Marks>>::default());
        let router = router(models.clone()).layer(from_fn_with_state(marks.clone(), note));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { address, models, marks })
    }

    /// Forgets what it was asked.
    pub fn forget(&self) {
        self.models.forget();
    }

    /// The newest request's marks: when it came, and when it was answered. Forgets it.
    pub fn take(&self) -> Result<(Instant, Instant)> {
        self.models.forget();
        let marks = std::mem::take(&mut *self.marks.lock().ok().context("a holder panicked")?);
        Ok((
            marks.arrived.context("the model was not asked")?,
            marks.answered.context("the model did not answer")?,
        ))
    }
}

async fn note(State(marks): State<Arc<Mutex<Marks>>>, request: Request, next: Next) -> Response {
    set(&marks, |m| *m = Marks { arrived: Some(Instant::now()), answered: None });
    next.run(request).await.map(|body| {
        let pieces =
            body.into_data_stream().inspect(move |_| set(&marks, |m| m.answered = Some(Instant::now())));
        Body::from_stream(pieces)
    })
}

fn set(marks: &Mutex<Marks>, change: impl FnOnce(&mut Marks)) {
    if let Ok(mut marks) = marks.lock() {
        change(&mut marks);
    }
}
