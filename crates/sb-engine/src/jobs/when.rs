//! When a job is due: cron expressions and times as people type them, by the clocks of a time zone.
//!
//! A cron expression has five fields; a time that a change of clocks leaves out is due right after it,
//! one that comes twice is due once. The zone's name is kept, so that its rules may change.

use std::cmp::Ordering;

use croner::errors::CronError;
use croner::parser::{CronParser, Seconds, Year};
use croner::time::{CivilDate, CivilDateTime, CivilTime, CronDateTime, Resolution, Weekday};
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{SignedDuration, ZonedDateTime};
use sb_core::model::{Schedule, Timestamp};

/// The shortest time between two runs, in seconds.
const SHORTEST: u32 = 60;
/// The longest, in seconds: ten years.
const LONGEST: u32 = 10 * 365 * 86_400;

/// When a job is due, as somebody typed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobTime {
    /// `0 9 * * 1-5`, or `@daily`.
    Cron(String),
    /// `90m`, `2h`, `1d`.
    Every(String),
    /// `2026-12-24 18:00`, or with an offset.
    At(String),
}

/// Reads when a job is due. `zone`: the name of a time zone; none: this machine's. The error is a sentence.
pub(super) fn read(time: &JobTime, zone: Option<&str>, now: Timestamp) -> Result<Schedule, String> {
    match time {
        JobTime::Every(text) => every(text),
        JobTime::Cron(text) => {
            let (zone, name) = zone_of(zone)?;
            let schedule = Schedule::Cron {
                expression: text.split_whitespace().collect::<Vec<_>>().join(" "),
                zone: name,
            };
            cron(text)?;
            match next_cron(text, &zone, now) {
                Some(_) => Ok(schedule),
                None => Err(format!("The cron expression {text:?} names no time that ever comes.")),
            }
        }
        JobTime::At(text) => once(text, zone, now),
    }
}

/// When a job is due next, after `after`; none if never more.
pub(super) fn next(schedule: &Schedule, made: Timestamp, after: Timestamp) -> Option<Timestamp> {
    match schedule {
        Schedule::Once { at, .. } => (*at > after).then_some(*at),
        Schedule::Every { seconds } => {
            let each = i64::from((*seconds).max(1)) * 1000;
            Some(made.plus_ms((after.ms_since(made) / each + 1) * each))
        }
        // A zone that is gone from the rules of this machine counts as UTC rather than as never.
        Schedule::Cron { expression, zone } => {
            next_cron(expression, &TimeZone::get(zone).unwrap_or(TimeZone::UTC), after)
        }
    }
}

/// A time as people read it, by the clocks of the schedule's zone.
pub(super) fn shown(at: Timestamp, schedule: &Schedule) -> String {
    let zone = match schedule {
        Schedule::Cron { zone, .. } | Schedule::Once { zone, .. } => {
            TimeZone::get(zone).unwrap_or(TimeZone::UTC)
        }
        Schedule::Every { .. } => TimeZone::system(),
    };
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(time) => time.to_zoned_datetime(zone).strftime("%a %Y-%m-%d %H:%M %Z").to_string(),
        Err(_) => at.0.to_string(),
    }
}

fn every(text: &str) -> Result<Schedule, String> {
    let bad = || format!("{text:?} is no time between two runs; write it as 90m, 2h or 1d.");
    let (number, unit) = text.trim().split_at_checked(text.trim().len().saturating_sub(1)).ok_or_else(bad)?;
    let each: u32 = match unit {
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 604_800,
        _ => return Err(bad()),
    };
    let seconds = number.trim().parse::<u32>().ok().and_then(|n| n.checked_mul(each)).ok_or_else(bad)?;
    match (SHORTEST..=LONGEST).contains(&seconds) {
        true => Ok(Schedule::Every { seconds }),
        false => Err(format!("{text:?} is too short or too long: a minute at least, ten years at most.")),
    }
}

fn once(text: &str, zone: Option<&str>, now: Timestamp) -> Result<Schedule, String> {
    let text = text.trim();
    let bad = |why: &dyn std::fmt::Display| {
        format!(
            "{text:?} is no time ({why}); write it as 2026-12-24 18:00, with --zone, or as 2026-12-24T18:00+01:00."
        )
    };
    let (zone, name) = zone_of(zone)?;
    let at = match text.parse::<jiff::Timestamp>() {
        Ok(at) => at,
        Err(_) => {
            let civil: DateTime = text.parse().map_err(|why: jiff::Error| bad(&why))?;
            match zone.to_ambiguous_zoned_datetime(civil) {
                ambiguous if matches!(ambiguous.offset(), AmbiguousOffset::Gap { .. }) => {
                    return Err(format!("There is no {text} in {name}: the clocks go forward over it."));
                }
                ambiguous => ambiguous.compatible().map_err(|why| bad(&why))?.timestamp(),
            }
        }
    };
    let at = Timestamp(at.as_millisecond());
    match at > now {
        true => Ok(Schedule::Once { at, zone: name }),
        false => Err(format!("{text} in {name} is over already.")),
    }
}

/// A zone by its name, or this machine's; with the name to keep.
fn zone_of(name: Option<&str>) -> Result<(TimeZone, String), String> {
    let Some(name) = name else {
        let system = TimeZone::system();
        let name = system.iana_name().map(str::to_owned);
        // A machine whose zone has no name is told by UTC, which has one.
        return Ok(name.map_or((TimeZone::UTC, "UTC".to_owned()), |name| (system, name)));
    };
    let zone = TimeZone::get(name).map_err(|_| {
        format!("There is no time zone {name:?}; write one such as Europe/Berlin, America/New_York or UTC.")
    })?;
    let name = zone.iana_name().unwrap_or(name).to_owned();
    Ok((zone, name))
}

fn cron(text: &str) -> Result<croner::Cron, String> {
    let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
    parser.parse(text).map_err(|why| {
        format!(
            "{text:?} is no cron expression ({}); write five fields, as in 0 9 * * 1-5: minute, hour, day of the month, month, day of the week.",
            why.to_string().trim_end_matches('.')
        )
    })
}

fn next_cron(text: &str, zone: &TimeZone, after: Timestamp) -> Option<Timestamp> {
    let after = jiff::Timestamp::from_millisecond(after.0).ok()?.to_zoned_datetime(zone.clone());
    let next = cron(text).ok()?.find_next_occurrence(&Local(after), false).ok()?;
    Some(Timestamp(next.0.timestamp().as_millisecond()))
}

/// A moment by the clocks of its zone, as the cron library searches it.
#[derive(Clone)]
struct Local(ZonedDateTime);

impl CronDateTime for Local {
    fn to_civil(&self) -> CivilDateTime {
        let at = self.0.datetime();
        let part = |part: i8| part.unsigned_abs().into();
        CivilDateTime::new(
            CivilDate::from_parts_unchecked(at.year().into(), part(at.month()), part(at.day())),
            CivilTime::from_parts_unchecked(part(at.hour()), part(at.minute()), part(at.second())),
        )
    }
    fn civil_weekday(&self) -> Weekday {
        Weekday::from_days_from_sunday(self.0.weekday().to_sunday_zero_offset().unsigned_abs().into())
    }
    fn resolve_civil(&self, civil: CivilDateTime) -> Result<Resolution<Self>, CronError> {
        let part = |part: u32| i8::try_from(part).map_err(|_| CronError::InvalidDate);
        let at = DateTime::new(
            i16::try_from(civil.year()).map_err(|_| CronError::InvalidDate)?,
            part(civil.month())?,
            part(civil.day())?,
            part(civil.hour())?,
            part(civil.minute())?,
            part(civil.second())?,
            0,
        )
        .map_err(|_| CronError::InvalidDate)?;
        let ambiguous = self.0.time_zone().to_ambiguous_zoned_datetime(at);
        let invalid = |_| CronError::InvalidTime;
        Ok(match ambiguous.offset() {
            AmbiguousOffset::Unambiguous { .. } => {
                Resolution::Single(Local(ambiguous.unambiguous().map_err(invalid)?))
            }
            AmbiguousOffset::Fold { .. } => Resolution::Ambiguous(
                Local(ambiguous.clone().earlier().map_err(invalid)?),
                Local(ambiguous.later().map_err(invalid)?),
            ),
            AmbiguousOffset::Gap { .. } => Resolution::Gap,
        })
    }
    fn checked_add_seconds(&self, seconds: i64) -> Option<Self> {
        self.0.checked_add(SignedDuration::from_secs(seconds)).ok().map(Local)
    }
    fn cmp_instant(&self, other: &Self) -> Ordering {
        self.0.timestamp().cmp(&other.0.timestamp())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_millisecond())
    }
    fn cron_in(zone: &str, expression: &str, after: &str) -> String {
        let time = JobTime::Cron(expression.to_owned());
        let schedule = read(&time, Some(zone), at(after)).unwrap();
        let next = next(&schedule, at(after), at(after)).unwrap();
        jiff::Timestamp::from_millisecond(next.0).unwrap().to_string()
    }

    #[test]
    fn a_cron_expression_goes_by_the_clocks_of_its_zone() {
        assert_eq!(cron_in("Europe/Berlin", "0 9 * * 1-5", "2026-11-27T09:00:00Z"), "2026-11-30T08:00:00Z");
        assert_eq!(cron_in("America/New_York", "0 9 * * *", "2026-07-01T00:00:00Z"), "2026-07-01T13:00:00Z");
        assert_eq!(cron_in("UTC", "@daily", "2026-11-30T00:00:00Z"), "2026-12-01T00:00:00Z");
        assert_eq!(cron_in("UTC", "0 8 L * *", "2026-02-01T00:00:00Z"), "2026-02-28T08:00:00Z");
    }

    #[test]
    fn clocks_that_change_neither_lose_a_run_nor_make_one_twice() {
        // Berlin, 29 March 2026: 02:30 is left out, and comes right after.
        assert_eq!(cron_in("Europe/Berlin", "30 2 * * *", "2026-03-28T12:00:00Z"), "2026-03-29T01:00:00Z");
        // 25 October 2026: 02:30 comes twice.
        let first = cron_in("Europe/Berlin", "30 2 * * *", "2026-10-24T12:00:00Z");
        assert_eq!(first, "2026-10-25T00:30:00Z");
        assert_eq!(cron_in("Europe/Berlin", "30 2 * * *", &first), "2026-10-26T01:30:00Z");
    }

    #[test]
    fn an_interval_is_counted_from_the_making_and_what_was_missed_is_passed_over() {
        let schedule = read(&JobTime::Every("2h".into()), None, at("2026-01-01T00:00:00Z")).unwrap();
        assert_eq!(schedule, Schedule::Every { seconds: 7200 });
        let made = at("2026-01-01T00:00:00Z");
        assert_eq!(next(&schedule, made, made), Some(at("2026-01-01T02:00:00Z")));
        assert_eq!(next(&schedule, made, at("2026-01-03T05:10:00Z")), Some(at("2026-01-03T06:00:00Z")));
    }

    #[test]
    fn a_single_time_is_read_by_a_zone_or_with_an_offset() {
        let now = at("2026-01-01T00:00:00Z");
        let read = |text: &str, zone| read(&JobTime::At(text.into()), zone, now);
        let berlin = Some("Europe/Berlin");
        let Schedule::Once { at: moment, zone } = read("2026-12-24 18:00", berlin).unwrap() else { panic!() };
        assert_eq!((moment, zone.as_str()), (at("2026-12-24T17:00:00Z"), "Europe/Berlin"));
        assert_eq!(shown(moment, &Schedule::Once { at: moment, zone }), "Thu 2026-12-24 18:00 CET");
        assert!(read("2026-12-24T18:00-05:00", berlin).is_ok());
        assert!(read("2025-12-24 18:00", berlin).unwrap_err().contains("over already"));
        assert!(read("2026-03-29 02:30", berlin).unwrap_err().contains("the clocks go forward"));
        assert!(read("tomorrow", berlin).unwrap_err().contains("write it as"));
    }

    #[test]
    fn what_cannot_be_read_says_what_would_be() {
        let now = at("2026-01-01T00:00:00Z");
        let said = |time| read(&time, Some("UTC"), now).unwrap_err();
        for bad in ["every morning", "* * * *", "61 * * * *", "* * * * * *", ""] {
            assert!(said(JobTime::Cron(bad.into())).contains("five fields"), "{bad:?}");
        }
        assert!(said(JobTime::Cron("0 0 30 2 *".into())).contains("ever comes"));
        for bad in ["", "h", "2 fortnights", "-1h", "99999999999d"] {
            assert!(said(JobTime::Every(bad.into())).contains("90m"), "{bad:?}");
        }
        assert!(said(JobTime::Every("0m".into())).contains("a minute at least"));
        let zone = read(&JobTime::Cron("0 9 * * *".into()), Some("Berlin"), now).unwrap_err();
        assert!(zone.contains("Europe/Berlin"), "{zone}");
    }
}
