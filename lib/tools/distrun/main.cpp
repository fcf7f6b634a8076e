// distrun starts a program as the ranks of a job, like torchrun. Its flags are in options.h.
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "dist/core/error.h"
#include "dist/core/standard_streams.h"

#include "agent.h"

namespace {

constexpr int not_runnable = 127, own_failure = 1;

int run(std::vector<std::string> arguments) {
  try {
    const distrun::Options options = distrun::parse(std::move(arguments));
    distrun::Guardian guardian;
    distrun::Signals signals;
    return distrun::run(options, guardian, signals);
  } catch (const distrun::Stop& stop) {
    std::fprintf(stop.exit_code == 0 ? stdout : stderr, "%s\n", stop.text.c_str());
    return stop.exit_code;
  } catch (const dist::Error& error) {
    const std::string text = error.what();
    std::fprintf(stderr, "%s%s\n", text.starts_with("distrun: ") ? "" : "distrun: ", text.c_str());
    return error.code() == dist::Errc::invalid_argument ? not_runnable : own_failure;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "distrun: %s\n", error.what());
    return own_failure;
  }
}

}  // namespace

int main(int argc, char** argv) {
  dist::open_standard_streams();
  return run({argv + 1, argv + argc});
}
