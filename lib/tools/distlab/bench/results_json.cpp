#include <cstdlib>

#include "dist/core/json.h"

#include "distlab/bench/results.h"
#include "distlab/build_info.h"

namespace distlab::bench {
namespace {

using Json = dist::OrderedJson;

Json or_null(double value) { return value > 0 ? Json(value) : Json(nullptr); }

Json to_json(const Run& run, const Row& row) {
  constexpr double micro = 1e6, giga = 1e9;
  const Collective collective = run.plan.collective;
  const char* transport = std::getenv("DIST_TRANSPORT");
  Json json{{"collective", name(collective)},
            {"backend", run.backend},
            {"algorithm", row.algorithm},
            {"ranks", run.plan.ranks},
            {"bytes", row.bytes},
            {"time_us", row.ours.median * micro},
            {"algbw_gbs", algbw(row) / giga},
            {"busbw_gbs", busbw(row, run) / giga}};
  json["peer"] = run.peer.empty() ? Json(nullptr) : Json(run.peer);
  json["peer_time_us"] = row.peer ? Json(row.peer->median * micro) : Json(nullptr);
  json["ratio"] = or_null(ratio(row));
  json["percent_of_limit"] = or_null(percent_of_limit(row));
  json["form"] = row.form == Form::in_place ? "in_place" : "out_of_place";
  json["dtype"] = has_data(collective) ? Json(run.options.dtype) : Json(nullptr);
  json["op"] = reduces(collective) ? Json(run.options.op) : Json(nullptr);
  json["root"] = has_root(collective) ? Json(run.plan.root) : Json(nullptr);
  json["count"] = row.count;
  json["wrong"] = row.wrong;
  json["iterations"] = row.iterations;
  json["repeats"] = run.options.repeats;
  json["least_time_us"] = row.ours.least * micro;
  json["most_time_us"] = row.ours.most * micro;
  json["limit_us"] = or_null(row.limit_s * micro);
  json["node_bandwidth_gbs"] = run.bandwidth / giga;
  json["meeting_us"] = or_null(run.meeting * micro);
  json["cores"] = run.options.cores;
  json["transport"] = transport ? transport : "auto";
  json["foreign"] = run.options.foreign;
  json["hot"] = run.options.hot;
  json["build"] = build_info().type;
  json["peer_version"] = run.peer.empty() ? Json(nullptr) : Json(run.peer_title);
  return json;
}

}  // namespace

std::string as_json(const Run& run, const std::vector<Row>& rows) {
  auto list = Json::array();
  for (const Row& row : rows) list.push_back(to_json(run, row));
  return dist::json_text(list, 2);
}

}  // namespace distlab::bench
