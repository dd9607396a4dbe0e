//! Runs the simulation over many seeds: `simulate FROM COUNT`. A seed that breaks a promise is printed, and
//! the exit code is 1.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sb_channels::telegram::{KIND, standin::TelegramStandIn};
use sb_testkit::messenger::Subject;
use sb_testkit::simulation::run;

fn main() -> ExitCode {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse::<u64>().ok());
    let (from, count) = (numbers.next().unwrap_or(1), numbers.next().unwrap_or(10_000));
    let (next, broken) = (AtomicU64::new(from), AtomicU64::new(0));
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let tried: Vec<[u64; 4]> = std::thread::scope(|scope| {
        let work = || {
            let mut tried = [0; 4];
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= from + count {
                    return tried;
                }
                let subject = Subject {
                    kind: Arc::new(KIND),
                    standin: |clock| Arc::new(TelegramStandIn::new(clock, "123456:stand-in_token")),
                };
                match catch_unwind(AssertUnwindSafe(|| run(&subject, seed))) {
                    Ok(one) => {
                        let all = [one.messages, one.kills, one.faults, one.decisions];
                        tried.iter_mut().zip(all).for_each(|(sum, more)| *sum += more);
                    }
                    Err(_) => {
                        println!("seed {seed} breaks a promise");
                        broken.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        };
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        workers.into_iter().filter_map(|worker| worker.join().ok()).collect()
    });
    let sum = |at: usize| tried.iter().map(|t| t[at]).sum::<u64>();
    let broken = broken.load(Ordering::Relaxed);
    println!(
        "{count} seeds from {from}: {} messages, {} kills, {} faults, {} decisions; {broken} seeds broke a promise",
        sum(0),
        sum(1),
        sum(2),
        sum(3)
    );
    if broken == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
