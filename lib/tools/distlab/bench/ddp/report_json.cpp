
#include "dist/core/json.h"

#include "distlab/bench/ddp/report.h"
#include "distlab/build_info.h"

namespace distlab::bench {

std::string as_json(const DdpRun& run) {
  using Json = dist::OrderedJson;
  auto list = Json::array();
  for (const DdpRow& row : run.rows) {
    Json json{{"ranks", row.ranks},
              {"batch_size", run.options.batch_size},
              {"step_ms", row.step * milli},
              {"compute_ms", row.compute * milli},
              {"communication_ms", row.communication * milli},
              {"exposed_ms", row.exposed * milli},
              {"bound_ms", bound(row) * milli},
              {"images_per_s", images_per_second(run, row, row.step)},
              {"scaling", scaling(run, row)}};
    const bool compared = row.peer > 0;
    json["peer"] = compared ? Json(run.options.compare) : Json(nullptr);
    json["peer_step_ms"] = compared ? Json(row.peer * milli) : Json(nullptr);
    json["peer_images_per_s"] = compared ? Json(images_per_second(run, row, row.peer)) : Json(nullptr);
    json["ratio"] = compared ? Json(ratio(row)) : Json(nullptr);
    json["device"] = run.options.device;
    json["graphs_ms"] = row.graphs > 0 ? Json(row.graphs * milli) : Json(nullptr);
    json["ratio_to_graphs"] = row.graphs > 0 ? Json(ratio_to_graphs(row)) : Json(nullptr);
    json["steps"] = row.steps;
    json["repeats"] = run.options.repeats;
    json["cores"] = run.cores;
    json["build"] = build_info().type;
    json["peer_version"] = compared ? Json(run.peer_title) : Json(nullptr);
    list.push_back(std::move(json));
  }
  return dist::json_text(list, 2);
}

}  // namespace distlab::bench
