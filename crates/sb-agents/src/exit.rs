//! How a turn of an agent elsewhere ends before its time.

use sb_harness::model::TurnFault;
use sb_harness::{HarnessInput, Inputs};

/// Why a turn goes no further.
pub(crate) enum Exit {
    /// Nobody hears us any more.
    Unheard,
    Fault(TurnFault),
}

/// Waits until the turn is told to stop, or nobody is there to tell it anything.
pub(crate) async fn stopped(inputs: &mut Inputs) {
    while !matches!(inputs.recv().await, Some(HarnessInput::Stop) | None) {}
}
