#include "dist/group/diagnosis/flight_dump.h"

#include <filesystem>

#include <unistd.h>

#include "dist/core/json.h"
#include "dist/core/log.h"
#include "dist/core/whole_file.h"

namespace dist {
namespace {

// Converts steady times to seconds since 1970, by the present difference between the two clocks.
class WallClock {
 public:
  OrderedJson operator()(FlightRecord::Time time) const {
    if (time == FlightRecord::Time{}) return nullptr;
    const auto wall = wall_ - std::chrono::duration_cast<std::chrono::system_clock::duration>(steady_ - time);
    return std::chrono::duration<double>(wall.time_since_epoch()).count();
  }

 private:
  std::chrono::system_clock::time_point wall_ = std::chrono::system_clock::now();
  FlightRecord::Time steady_ = std::chrono::steady_clock::now();
};

OrderedJson rank_or_null(int rank) { return rank < 0 ? OrderedJson(nullptr) : OrderedJson(rank); }

OrderedJson to_json(const FlightRecord& record, const FlightRecorder& recorder, const WallClock& clock) {
  OrderedJson json{{"id", record.id},
                   {"operation", record.operation},
                   {"group", recorder.group_name(record.group)},
                   {"sequence", record.sequence},
                   {"state", name(record.state)},
                   {"file", record.where.file},
                   {"line", record.where.line},
                   {"issued", clock(record.issued)},
                   {"started", clock(record.started)},
                   {"ended", clock(record.ended)}};
  if (record.count >= 0) {
    json["count"] = record.count;
    json["dtype"] = name(record.dtype);
    json["bytes"] = static_cast<std::size_t>(record.count) * size_of(record.dtype);
  }
  json["root"] = rank_or_null(record.root);
  json["peer"] = rank_or_null(record.peer);
  if (!record.algorithm.empty()) json["algorithm"] = record.algorithm;
  if (!record.error.empty()) json["error"] = record.error;
  return json;
}

}  // namespace

std::string to_json(const FlightLog& log, std::string_view reason) {
  const WallClock clock;
  OrderedJson json{{"rank", log.rank}, {"world_size", log.world_size}, {"pid", getpid()}, {"reason", reason}};
  json["records"] = OrderedJson::array();
  for (const auto& record : log.recorder.snapshot()) {
    json["records"].push_back(to_json(record, log.recorder, clock));
  }
  return json_text(json, 1, BadBytes::replace);
}

void dump(const FlightLog& log, std::string_view reason) noexcept {
  if (!log.directory.empty()) dump_into(log.directory, log, reason);
}

void dump_into(const std::string& directory, const FlightLog& log, std::string_view reason) noexcept {
  try {
    std::filesystem::create_directories(directory);
    const auto path = std::filesystem::path(directory) / fmt::format("distlab_rank{}.json", log.rank);
    write_whole_file(path, to_json(log, reason) + '\n');
    dist::log(LogLevel::info, "rank {}: flight record written to {}", log.rank, path.string());
  } catch (const std::exception& error) {
    try {
      dist::log(LogLevel::warn, "rank {}: no flight record: {}", log.rank, error.what());
    } catch (...) {
      // There was no memory to report it: nothing is left to try.
    }
  }
}

}  // namespace dist
