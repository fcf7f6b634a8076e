// distlab trace: draws the trace files of a run, or converts them to another format.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dist/core/whole_file.h"
#include "dist/trace/chrome_json.h"
#include "dist/trace/recorder.h"

#include "distlab/commands.h"
#include "distlab/terminal.h"
#include "distlab/trace_page.h"
#include "drawing/ascii.h"
#include "drawing/player_json.h"
#include "drawing/svg.h"

namespace distlab {
namespace {

std::string rendered(const dist::trace::Trace& trace, const TraceOptions& options) {
  if (options.format == "chrome") return dist::trace::to_chrome_json(trace);
  if (options.format == "player") return dist::trace::to_player_json(trace);
  dist::trace::AsciiOptions ascii;
  ascii.width = options.width > 0 ? options.width : terminal_width();
  ascii.unicode = !options.ascii;
  return dist::trace::to_ascii(trace, ascii);
}

// Returns each file once, even if it is named twice, because its events must not be drawn twice.
std::vector<std::filesystem::path> different(const std::vector<std::filesystem::path>& files) {
  std::vector<std::filesystem::path> all;
  for (const auto& file : files) {
    std::error_code none;
    const auto is_file = [&](const auto& other) { return std::filesystem::equivalent(file, other, none); };
    if (std::ranges::none_of(all, is_file)) all.push_back(file);
  }
  return all;
}

}  // namespace

int show_trace_files(const TraceOptions& options) {
  std::vector<dist::trace::Trace> traces;
  for (const auto& file : different(options.files)) traces.push_back(dist::trace::read_file(file));
  // A single file is not merged, because merging would change the order of its events.
  const auto trace = traces.size() == 1 ? std::move(traces.front()) : dist::trace::merge(std::move(traces));
  if (!options.html.empty()) {
    dist::write_whole_file(options.html, trace_page(trace));
    fmt::print("{}: open it in a browser\n", options.html.string());
  }
  if (!options.svg.empty()) {
    dist::write_whole_file(options.svg, dist::trace::to_svg(trace));
    fmt::print("{}: a picture for a page, light and dark\n", options.svg.string());
  }
  if (!options.html.empty() || !options.svg.empty()) return exit_ok;
  const std::string text = rendered(trace, options);
  if (options.output.empty())
    fmt::print("{}", text);
  else
    dist::write_whole_file(options.output, text);
  return exit_ok;
}

int show_trace(const TraceOptions& options) {
  const auto& first = options.files.front();
  const bool is_word = !first.has_extension() && !first.has_parent_path();  // such as "3"
  const bool is_lab = options.files.size() == 1 && is_word && !std::filesystem::exists(first);
  if (is_lab) return trace_lab(options, first);
  if (options.test.empty() && !options.seed) return show_trace_files(options);
  fmt::print(
      stderr,
      "distlab: {} is a file, but --test and --seed are for a lab, as in ./distlab trace 3 --test NAME\n",
      first.string());
  return exit_usage;
}

}  // namespace distlab
