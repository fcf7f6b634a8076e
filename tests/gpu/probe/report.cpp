#include "report.h"

namespace probe {
namespace {

std::string quoted(const std::string& what) {
  std::string out = "\"";
  for (const char c : what) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

}  // namespace

void print_row(const Row& row) {
  std::printf("%-24s %-8s %5.1f s  %s\n", row.probe.c_str(), name(row.status), row.seconds,
              row.question.c_str());
  for (const Value& v : row.values) {
    std::printf("    %-34s %12.6g %s\n", v.name.c_str(), v.number, v.unit.c_str());
  }
  for (const std::string& note : row.notes) std::printf("    %s\n", note.c_str());
  std::fflush(stdout);
}

void write_json(std::FILE* out, const std::vector<Row>& rows) {
  std::fprintf(out, "[");
  for (const Row& row : rows) {
    std::fprintf(
        out,
        "%s\n  {\"probe\": %s, \"question\": %s, \"status\": \"%s\", \"seconds\": %.3f,\n   \"values\": {",
        &row == rows.data() ? "" : ",", quoted(row.probe).c_str(), quoted(row.question).c_str(),
        name(row.status), row.seconds);
    for (const Value& v : row.values) {
      std::fprintf(out, "%s%s: {\"value\": %.9g, \"unit\": %s}", &v == row.values.data() ? "" : ", ",
                   quoted(v.name).c_str(), v.number, quoted(v.unit).c_str());
    }
    std::fprintf(out, "},\n   \"notes\": [");
    for (const std::string& note : row.notes) {
      std::fprintf(out, "%s%s", &note == row.notes.data() ? "" : ", ", quoted(note).c_str());
    }
    std::fprintf(out, "]}");
  }
  std::fprintf(out, "\n]\n");
}

}  // namespace probe
