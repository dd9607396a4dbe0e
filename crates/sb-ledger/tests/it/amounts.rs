//! Amounts: exact, bounded, and only as text.

use proptest::prelude::*;
use sb_ledger::Usd;

#[test]
fn what_is_no_amount_is_refused_with_what_to_write() {
    let long = "1".repeat(30);
    for text in [
        "1e400",
        "-1",
        "NaN",
        "inf",
        "",
        ".",
        "5.",
        ".5",
        "+5",
        " 5",
        "5 ",
        "1,000",
        "$5",
        "0x10",
        "1.2.3",
        "٣",
        "007",
        "1.0000001",
        "1000000000000",
        &long,
    ] {
        let said = text.parse::<Usd>().expect_err(text).to_string();
        assert!(said.contains("Write US dollars as digits, such as \"12.50\""), "{said}");
        assert!(said.len() < 200, "{said}");
    }
}

#[test]
fn amounts_are_printed_as_people_write_them() {
    for (text, shown) in
        [("0", "0.00"), ("5", "5.00"), ("12.5", "12.50"), ("0.000001", "0.000001"), ("1.2300", "1.23")]
    {
        assert_eq!(text.parse::<Usd>().unwrap().to_string(), shown);
    }
    assert_eq!(Usd::MOST.to_string(), "999999999999.999999");
}

#[test]
fn an_amount_is_a_text_and_never_a_number() {
    assert!(serde_json::from_str::<Usd>("2.5").is_err());
    assert!(serde_json::from_str::<Usd>("\"1e2\"").is_err());
    assert_eq!(serde_json::to_string(&"2.5".parse::<Usd>().unwrap()).unwrap(), "\"2.50\"");
}

proptest! {
    /// Holds: L-08.
    #[test]
    fn what_is_printed_reads_as_the_same_amount_and_sums_are_exact(
        a in 0u64..500_000_000_000_000_000, b in 0u64..400_000_000_000_000_000
    ) {
        let amount = |n: u64| format!("{}.{:06}", n / 1_000_000, n % 1_000_000).parse::<Usd>().unwrap();
        prop_assert_eq!(amount(a).to_string().parse::<Usd>().unwrap(), amount(a));
        let sum = amount(a).plus(amount(b)).unwrap();
        prop_assert_eq!(sum, amount(a + b));
        prop_assert_eq!(sum.minus(amount(b)), Some(amount(a)));
        prop_assert_eq!(amount(a).minus(sum), if b == 0 { Some(Usd::ZERO) } else { None });
        prop_assert_eq!(Usd::MOST.plus(amount(a + 1)), None);
    }

    #[test]
    fn no_text_makes_it_panic(text in ".{0,60}") {
        if let Ok(amount) = text.parse::<Usd>() {
            prop_assert!(amount <= Usd::MOST);
        }
    }
}
