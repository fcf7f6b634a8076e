// ./distlab show: scenes for lectures, which need no network and no GPU and take less than ten seconds each.
// The scene pipeline has options, so it is a command of its own (pipeline.cpp).
#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dist/core/whole_file.h"
#include "dist/trace/recorder.h"

#include "distlab/commands.h"
#include "distlab/show/scene.h"
#include "distlab/suggest.h"
#include "distlab/terminal.h"
#include "distlab/trace_page.h"

namespace distlab {
namespace {

struct Scene {
  const char *name, *title;
  dist::trace::Trace (*play)();
};

constexpr std::array scenes{
    Scene{"ring", "All-reduce around a ring", show::ring},
    Scene{"tree", "All-reduce up and down a tree", show::tree},
    Scene{"double-tree", "Two trees, each with half of the data", show::double_tree},
    Scene{"deadlock", "Every rank waits for another", show::deadlock},
    Scene{"overlap", "Communication behind computation", show::overlap},
    Scene{"scale", "Ring and tree as the machine grows", show::scale},
    Scene{"ddp", "Two processes train one model", show::ddp},
};

std::vector<std::string> names_of_scenes() {
  std::vector<std::string> names{"pipeline"};
  for (const Scene& scene : scenes) names.emplace_back(scene.name);
  return names;
}

int list_scenes() {
  for (const Scene& scene : scenes) fmt::print("./distlab show {:<12} {}\n", scene.name, scene.title);
  fmt::print("./distlab show {:<12} {}\n", "pipeline",
             "Pipeline schedules: who computes what when; has options");
  return exit_ok;
}

int refuse(const std::string& why) {
  fmt::print(stderr, "distlab: {}\n", why);
  return exit_usage;
}

}  // namespace

int show_scene(const ShowOptions& options) {
  const bool writes = !options.trace.empty() || !options.html.empty();
  if (options.scene.empty())
    return writes ? refuse("--html and --trace need a scene, as in ./distlab show ring --html ring.html")
                  : list_scenes();
  const auto scene =
      std::ranges::find_if(scenes, [&](const Scene& each) { return each.name == options.scene; });
  if (scene == scenes.end()) {
    const std::string meant = closest(options.scene, names_of_scenes());
    return refuse(fmt::format(
        "there is no scene \"{}\"; {}", options.scene,
        meant.empty() ? "./distlab show lists them" : fmt::format("did you mean \"{}\"?", meant)));
  }
  fmt::print("{}\n\n", styled(Style::bold, scene->title));
  const auto trace = scene->play();
  if (trace.events.empty() && writes)
    return refuse(fmt::format("scene {} has no trace; leave out --html and --trace", scene->name));
  if (!options.trace.empty()) dist::trace::write_file(trace, options.trace);
  if (!options.html.empty()) {
    dist::write_whole_file(options.html, trace_page(trace));
    fmt::print("\n{}: open it in a browser\n", options.html.string());
  } else if (!trace.events.empty()) {
    fmt::print("\n{}\n", styled(Style::dim,
                                fmt::format("to play it as an animation: ./distlab show {0} --html {0}.html",
                                            scene->name)));
  }
  return exit_ok;
}

}  // namespace distlab
