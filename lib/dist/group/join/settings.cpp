#include "dist/group/join/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/ranges.h>

#include "dist/core/fail.h"
#include "dist/trace/parts.h"

namespace dist {
namespace {

template <class T>
using Allowed = std::pair<std::string_view, T>;

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

template <class T, std::size_t N>
T one_of(const GetEnv& get_env, const char* variable, const std::array<Allowed<T>, N>& allowed) {
  const std::string value = lower(get_env(variable).value_or(""));
  if (value.empty()) return allowed[0].second;
  std::string names;
  for (const auto& [text, meaning] : allowed) {
    if (value == text) return meaning;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", text);
  }
  fail(Errc::invalid_argument, "{}=\"{}\" is not known; use one of: {}", variable, value, names);
}

std::size_t positive(const GetEnv& get_env, const char* variable, std::size_t otherwise) {
  const std::string value = get_env(variable).value_or("");
  if (value.empty()) return otherwise;
  constexpr std::size_t largest = 1'000'000;
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size() || number < 1 || number > largest) {
    fail(Errc::invalid_argument, "{}=\"{}\" is not a number from 1 to {}", variable, value, largest);
  }
  return number;
}

}  // namespace

Settings read_settings(const GetEnv& get_env) {
  constexpr std::array debug{Allowed<DebugLevel>{"off", DebugLevel::off},
                             Allowed<DebugLevel>{"info", DebugLevel::info},
                             Allowed<DebugLevel>{"detail", DebugLevel::detail}};
  constexpr std::array send{Allowed<SendMode>{"rendezvous", SendMode::rendezvous},
                            Allowed<SendMode>{"eager", SendMode::eager}};
  constexpr std::array transport{Allowed<const char*>{"auto", "auto"}, Allowed<const char*>{"shm", "shm"},
                                 Allowed<const char*>{"tcp", "tcp"}, Allowed<const char*>{"plain", "plain"}};
  constexpr std::array device{Allowed<std::optional<DeviceType>>{"auto", std::nullopt},
                              Allowed<std::optional<DeviceType>>{"cpu", DeviceType::cpu},
                              Allowed<std::optional<DeviceType>>{"cuda", DeviceType::cuda}};
  Settings settings;
  if (const auto backend = get_env("DIST_BACKEND").value_or(""); !backend.empty()) settings.backend = backend;
  settings.device = one_of(get_env, "DIST_DEVICE", device);
  settings.debug = one_of(get_env, "DIST_DEBUG", debug);
  settings.send_mode = one_of(get_env, "DIST_SEND", send);
  settings.transport = one_of(get_env, "DIST_TRANSPORT", transport);
  settings.algorithms = get_env("DIST_ALGO").value_or("");
  settings.recorder_size = positive(get_env, "DIST_FLIGHT_RECORDER_SIZE", settings.recorder_size);
  settings.deadlock_after_s = positive(get_env, "DIST_DEADLOCK_AFTER", settings.deadlock_after_s);
  settings.dump_dir = get_env("DIST_DUMP_DIR").value_or("");
  settings.trace_file = trace::absolute_path(get_env("DIST_TRACE").value_or(""));
  return settings;
}

Settings read_settings() { return read_settings(process_environment); }

Timeout read_timeout(const GetEnv& get_env) {
  const auto text = get_env("DIST_TIMEOUT");
  if (!text) return default_timeout;
  double seconds = 0;
  auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), seconds);
  if (error != std::errc() || end != text->data() + text->size() || !std::isfinite(seconds) || seconds <= 0) {
    fail(Errc::invalid_argument, "DIST_TIMEOUT is '{}': it must be a number of seconds greater than 0",
         *text);
  }
  constexpr double century = 100.0 * 365 * 24 * 3600;
  if (seconds > century) return no_timeout;
  return std::chrono::duration_cast<Timeout>(std::chrono::duration<double>(seconds));
}

}  // namespace dist
