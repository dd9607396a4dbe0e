//! Requirements and tests name each other, both ways.

use xtask::project;
use xtask::requirements::{PAGE, Page};
use xtask::task::requirements::proofs;

use crate::none;

#[test]
fn every_requirement_and_its_tests_name_each_other() {
    let page = Page::read(&project::read(PAGE).expect(PAGE)).expect(PAGE);
    let (proofs, mut faults) = proofs();
    faults.extend(page.faults(&proofs));
    none(faults);
}
