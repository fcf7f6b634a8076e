// Linked instead of transports, backends and algorithms: a graded process is a rank of the grader's
// simulation, and can be nothing else.
#include "dist/backend/backend.h"
#include "dist/backend/entries.h"
#include "dist/core/fail.h"
#include "dist/transport/endpoint.h"

namespace dist {
namespace {

constexpr const char* only =
    "graded code runs only as a rank of the grader's simulation; there is no other job, no other backend";

constexpr BackendEntry sim_alone{
    "sim", DeviceType::cpu,
    [](std::string* why) {
      if (why) *why = only;
      return false;
    },
    [](const BackendContext&) -> std::unique_ptr<Backend> { fail(Errc::unsupported, "{}", only); }};

}  // namespace

std::shared_ptr<Endpoint> connect_endpoint(Store&, const EndpointOptions&) {
  fail(Errc::unsupported, "{}", only);
}

bool nccl::available(std::string* why) {
  if (why) *why = only;
  return false;
}

std::string mpi::rank_0_address(int, int) { fail(Errc::unsupported, "{}", only); }

const BackendEntry& backend_named(std::string_view) { return sim_alone; }
const BackendEntry& find_backend(std::string_view) { fail(Errc::unsupported, "{}", only); }
const std::deque<BackendEntry>& backends() {
  static const std::deque<BackendEntry> all{sim_alone};
  return all;
}

}  // namespace dist
