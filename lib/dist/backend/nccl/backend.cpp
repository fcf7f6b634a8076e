// The "nccl" backend. supports() and plan_of() say what runs on NCCL; connect() and split() make
// communicators; part() and detach() end it. The collectives are in collectives.cpp, the messages from one
// rank to another in lanes.cpp (DIST_NCCL_MESSAGES=1).
#include "dist/backend/nccl/backend.h"

#include <cstdlib>
#include <mutex>

#include "dist/backend/entries.h"
#include "dist/backend/nccl/collectives.h"
#include "dist/core/counted.h"
#include "dist/core/fail.h"
#include "dist/core/log.h"

namespace dist::nccl {
namespace {

bool shares_gpus() {
  const char* const value = std::getenv("DIST_NCCL_SHARE_GPU");
  return value && std::string_view(value) == "1";
}

// NCCL refuses two ranks with the same GPU on the same host, so each rank is made to look like a host of its
// own: they then communicate over sockets. It must happen before NCCL reads its environment, which it does
// once.
void look_like_many_hosts(const BackendContext& context) {
  for (int peer = 0; peer < context.endpoint->world_size(); ++peer)
    if (context.endpoint->link_kind(peer) == "thread")
      fail(Errc::unsupported,
           "DIST_NCCL_SHARE_GPU=1 is for ranks that are processes, and several ranks of this job are threads "
           "of "
           "one; start them with ./distlab run or distrun, or use backend \"cuda\"");
  ::setenv("NCCL_HOSTID", fmt::format("distlab-rank-{}", context.endpoint->rank()).c_str(), 1);
  ::setenv("NCCL_SOCKET_IFNAME", "lo", 0);
  ::setenv("NCCL_IB_DISABLE", "1", 0);
  ::setenv("NCCL_NET_PLUGIN", "none", 0);
}

bool is_bit_operation(ReduceOp::Kind op) {
  return op == ReduceOp::Kind::band || op == ReduceOp::Kind::bor || op == ReduceOp::Kind::bxor;
}

struct InPlace {
  std::mutex mutex;
  std::shared_ptr<Library> library;
};

InPlace& in_place() {
  static auto* const instance = new InPlace;
  return *instance;
}

}  // namespace

void set_library(std::shared_ptr<Library> library) {
  const std::scoped_lock lock(in_place().mutex);
  in_place().library = std::move(library);
}

std::shared_ptr<Library> library() {
  const std::scoped_lock lock(in_place().mutex);
  auto& found = in_place().library;
  if (!found) found = open_library();
  return found;
}

NcclBackend::NcclBackend(const BackendContext& context, std::shared_ptr<Library> library, Role role)
    : StreamBackend("nccl", context),
      library_(std::move(library)),
      role_(role),
      communicator_(std::static_pointer_cast<Communicator>(context.split_off)) {
  if (role == Role::group && shares_gpus()) look_like_many_hosts(context_);
}

NcclBackend::~NcclBackend() { stop(); }

bool NcclBackend::supports(OpKind kind, ReduceOp::Kind op, DType dtype, Device device,
                           std::string* why) const {
  if (!StreamBackend::supports(kind, op, dtype, device, why)) return false;
  const bool reduces = kind == OpKind::reduce || kind == OpKind::all_reduce || kind == OpKind::reduce_scatter;
  if (device.type == DeviceType::cpu || !reduces || !is_bit_operation(op)) return true;
  if (why)
    *why = fmt::format(
        "NCCL has no {}: it knows sum, avg, product, min, max and premul_sum; use backend "
        "\"cuda\", or a copy on the CPU (.to(dist::cpu))",
        dist::name(op));
  return false;
}

Plan NcclBackend::plan_of(const Operation& operation) const {
  if (!operation.algorithm.empty() && operation.algorithm != "nccl")
    fail(Errc::invalid_argument,
         "the nccl backend leaves the algorithm to NCCL, so \"{}\" cannot be chosen; leave .algorithm empty, "
         "set NCCL_ALGO, or use backend \"cuda\"",
         operation.algorithm);
  return {.algorithm = "nccl"};
}

Patience NcclBackend::patience_for(const Operation& operation) {
  return {.deadline = Deadline::after(operation.timeout),
          .look = [this] { wait_a_little(); },
          .doing = fmt::format("rank {}: {}", context_.members[context_.rank], describe(operation))};
}

bool NcclBackend::is_ordered(const Operation& operation) const {
  return role_ == Role::lane || StreamBackend::is_ordered(operation);
}

void NcclBackend::connect(const Operation& operation) {
  watch_members(operation);
  if (communicator_ && communicator_->device() != device())
    fail(Errc::invalid_argument,
         "rank {}: {} has tensors on {}, but {} was made of a group that works on {}; use one device per "
         "rank",
         context_.members[context_.rank], describe(operation), device().str(), context_.group_name,
         communicator_->device().str());
  if (communicator_) return;
  device_api(device().type).load_kernels(device());
  communicator_ = std::make_unique<Communicator>(library_, device(), context_, patience_for(operation));
  log(LogLevel::info, "NCCL {} has connected the {} of {}", library_->version(),
      counted(context_.members.size(), "rank"), context_.group_name);
}

std::shared_ptr<void> NcclBackend::split(const SplitPlace& share, Timeout timeout) {
  return communicator_->split(
      share, {.deadline = Deadline::after(timeout),
              .look = [this] { wait_a_little(); },
              .doing = fmt::format("rank {}: making a group of {}", context_.members[context_.rank],
                                   context_.group_name)});
}

void NcclBackend::start(const Operation& operation) {
  nccl::run(*communicator_, operation, patience_for(operation));
  has_run_ = true;
}

void NcclBackend::look(const Operation&) { communicator_->check(); }

void NcclBackend::detach() noexcept {
  if (communicator_) communicator_->abort();
}

// All ranks come here when their work has ended, and none leaves before the others have arrived.
void NcclBackend::part() {
  role_ == Role::group ? meet_on_host(close_timeout) : meet_other_end();
  Operation leaving;
  leaving.timeout = close_timeout;
  Patience patience = patience_for(leaving);
  patience.look = [] { dist::sleep(std::chrono::microseconds(500)); };  // the other ranks may be gone by now
  communicator_->close(patience, in_graphs_.use_count() > 1);
}

bool available(std::string* why) {
  try {
    (void)library();  // first: what this build lacks cannot be fixed here
    if (device_api(DeviceType::cuda).count() == 0) fail(Errc::unsupported, "there is no cuda device");
    if (why) why->clear();
    return true;
  } catch (const Error& error) {
    if (why) *why = fmt::format("the nccl backend cannot run here: {}; use backend \"host\"", error.what());
    return false;
  }
}

std::unique_ptr<Backend> make(const BackendContext& context) {
  std::string why;
  if (!available(&why)) fail(Errc::unsupported, "{}", why);
  return std::make_unique<NcclBackend>(context, library());
}

}  // namespace dist::nccl
