//! Spreadsheets, which an agent's tool reads by a process of its own.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Cursor, Write};

use rust_xlsxwriter::{ExcelDateTime, Format, Workbook};
use zip::write::SimpleFileOptions;

use crate::world::World;

fn xlsx(fill: impl FnOnce(&mut Workbook)) -> Vec<u8> {
    let mut book = Workbook::new();
    fill(&mut book);
    book.save_to_buffer().unwrap()
}

/// A spreadsheet in the open form, with this as its only table's rows.
fn ods(rows: &str) -> Vec<u8> {
    const OFFICE: &str = "urn:oasis:names:tc:opendocument:xmlns";
    let mut packed = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    packed.start_file("mimetype", stored).unwrap();
    packed.write_all(b"application/vnd.oasis.opendocument.spreadsheet").unwrap();
    packed.start_file("META-INF/manifest.xml", stored).unwrap();
    packed.write_all(b"<manifest:manifest/>").unwrap();
    packed.start_file("content.xml", SimpleFileOptions::default()).unwrap();
    let content = format!(
        "<office:document-content xmlns:office=\"{OFFICE}:office:1.0\" xmlns:table=\"{OFFICE}:table:1.0\" \
         xmlns:text=\"{OFFICE}:text:1.0\"><office:body><office:spreadsheet><table:table table:name=\"Plan\">{rows}\
         </table:table></office:spreadsheet></office:body></office:document-content>"
    );
    packed.write_all(content.as_bytes()).unwrap();
    packed.finish().unwrap().into_inner()
}

/// What the agent is told of a file, and the profile's answer is that.
async fn read(world: &World, name: &str, file: &[u8]) -> String {
    let workspace = world.home().with_file_name("ws");
    std::fs::create_dir_all(&workspace).unwrap();
    std::fs::write(workspace.join(name), file).unwrap();
    world.typed(&["talk", "reader"], &format!("!tool read_file {{\"path\": \"{name}\"}}\n")).await.out
}

async fn reader() -> World {
    let world = World::new();
    let workspace = world.home().with_file_name("ws");
    let workspace = workspace.to_str().unwrap();
    world.done(&["profile", "add", "reader", "--model", "scripted", "--workspace", workspace]).await;
    world
}

/// Holds: H-33.
#[tokio::test]
async fn an_agent_reads_the_sheets_of_every_office() {
    let world = reader().await;
    let file = xlsx(|book| {
        let plan = book.add_worksheet().set_name("Plan").unwrap();
        plan.write(0, 0, "item").unwrap().write(0, 1, "price").unwrap();
        plan.write(3, 0, "Brötchen").unwrap().write(3, 1, 3.5).unwrap();
        let day = ExcelDateTime::from_ymd(2026, 11, 30).unwrap();
        plan.write_with_format(3, 2, day, &Format::new().set_num_format("yyyy-mm-dd")).unwrap();
        book.add_worksheet().set_name("Rest").unwrap().write(0, 1, true).unwrap();
    });
    let told = read(&world, "plan.xlsx", &file).await;
    assert!(told.contains("# Plan\n1\titem\tprice\n4\tBrötchen\t3.5\t2026-11-30\n"), "{told}");
    assert!(told.contains("# Rest\n1\t\ttrue"), "{told}");
    let row = "<table:table-row><table:table-cell office:value-type=\"string\"><text:p>flour</text:p></table:table-cell>\
               <table:table-cell office:value-type=\"float\" office:value=\"2\"/></table:table-row>";
    let told = read(&world, "plan.ods", &ods(row)).await;
    assert!(told.contains("# Plan\n1\tflour\t2"), "{told}");
}

#[tokio::test]
async fn one_that_unfolds_without_end_costs_a_sentence() {
    let world = reader().await;
    let cell = "<table:table-cell table:number-columns-repeated=\"16000\" office:value-type=\"string\">\
                <text:p>x</text:p></table:table-cell>";
    let rows = format!("<table:table-row table:number-rows-repeated=\"6000\">{cell}</table:table-row>");
    let told = read(&world, "burst.ods", &ods(&rows)).await;
    assert!(told.contains("unfolds to more than can be read"), "{told}");
    // Two cells as far apart as can be: what holds all between them holds seventeen thousand million.
    let far = xlsx(|book| {
        let sheet = book.add_worksheet();
        sheet.write(0, 0, "first").unwrap().write(1_048_575, 16_383, "last").unwrap();
    });
    let told = read(&world, "far.xlsx", &far).await;
    assert!(told.contains("1\tfirst") && told.contains("last"), "{told}");
    let told = read(&world, "none.xlsx", &[&b"PK\x03\x04"[..], &[0; 100]].concat()).await;
    assert!(told.contains("cannot be read as a spreadsheet") || told.contains("is no text"), "{told}");
}
