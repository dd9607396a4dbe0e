//! Calls about jobs.

use reqwest::Method;

use super::{Desk, Result, json, segment};
use crate::local::wire::{AddJob, JobInfo};

impl Desk {
    /// All jobs, each with its last run.
    pub async fn jobs(&self) -> Result<Vec<JobInfo>> {
        self.get("/desk/jobs").await
    }

    /// One job, with its runs.
    pub async fn job(&self, name: &str) -> Result<JobInfo> {
        self.get(&format!("/desk/jobs/{}", segment(name))).await
    }

    /// Makes a job.
    pub async fn add_job(&self, job: &AddJob) -> Result<JobInfo> {
        json(self.send(self.ask(Method::POST, "/desk/jobs").json(job), false).await?).await
    }

    /// Runs a job, and waits until the run has ended or a person must decide.
    pub async fn run_job(&self, name: &str) -> Result<JobInfo> {
        let path = format!("/desk/jobs/{}/runs", segment(name));
        json(self.send(self.ask(Method::POST, &path), false).await?).await
    }

    /// Removes a job.
    pub async fn remove_job(&self, name: &str) -> Result<()> {
        self.delete(&format!("/desk/jobs/{}", segment(name))).await
    }
}
