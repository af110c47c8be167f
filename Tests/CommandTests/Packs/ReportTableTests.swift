import Testing
import VaultBase

@testable import VaultCommand

/// One table of columns says what people and scripts see.
struct ReportTableTests {
    private struct Part {
        let name: String
        var count: Int?
    }

    private struct Answer: Report {
        let id: String
        var version: UInt64?
        var tags: [String] = []
        var isOld = false
        var parts: [Part] = []

        var columns: [Column<Self>] {
            let partColumns: [Column<Part>] = [
                .words { "- \($0.name)" }, .text("name") { $0.name },
                .count("count", "%", of: "file") { $0.count },
                .words { _ in "end" },
            ]
            return [
                .text("id", "%") { $0.id }, .number("version", ", version %") { $0.version }.orNull,
                .size("size", " of %") { _ in 1_500 }, .texts("tags", "tags: %") { $0.tags },
                .flag("old", "; old") { $0.isOld }, .table("parts", partColumns) { $0.parts },
                .table(nil, partColumns, isAligned: true) { $0.parts },
                .table("hidden", partColumns) { $0.parts.unlessEmpty }.onlyJSON,
            ]
        }
    }

    @Test func whatIsNotThereIsLeftOut() {
        let answer = Answer(id: "a%b")
        #expect(answer.lines == ["a%b of 1.5 KB"])
        #expect(
            answer.json == [
                "id": "a%b", "version": .null, "size": 1500, "tags": [], "old": false, "parts": [],
            ])
    }

    @Test func cellsAndRows() {
        let parts = [Part(name: "map", count: 1), Part(name: "music"), Part(name: "m", count: 12)]
        let answer = Answer(id: "a", version: 2, tags: ["x", "y"], parts: parts)
        #expect(
            answer.lines == [
                "a, version 2 of 1.5 KB  tags: x, y", "- map  1 file  end", "- music  end",
                "- m  12 files  end", "- map    1 file    end", "- music            end",
                "- m      12 files  end",
            ])
        let objects: JSONValue = [
            ["name": "map", "count": 1], ["name": "music"], ["name": "m", "count": 12],
        ]
        #expect(answer.json["parts"] == objects && answer.json["hidden"] == objects)
    }

    @Test func aFlagShowsItsLabelWhereItIsTrue() {
        #expect(Answer(id: "a", isOld: true).lines == ["a of 1.5 KB; old"])
    }
}
