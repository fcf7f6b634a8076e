// NCCL itself, found when it is first asked for: programs that do not use it neither load nor need it. load()
// and find_all() find its functions; NcclLibrary implements library.h with them; check() explains its errors.
#include <array>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <dlfcn.h>
#include <nccl.h>

#include "dist/backend/nccl/explain.h"
#include "dist/backend/nccl/library.h"
#include "dist/core/device/cuda/check.h"
#include "dist/core/fail.h"
#include "dist/core/functors.h"

namespace dist::nccl {
namespace {

// NCCL's functions, by their own names.
struct Functions {
#define DIST_NCCL(name) decltype(&::name) name = nullptr;
#include "dist/backend/nccl/functions.inc"
#undef DIST_NCCL
};

// The library whose header this was compiled with comes first, because another one may lack functions.
void* load() {
  for (const char* name : {DIST_NCCL_LIBRARY, "libnccl.so.2", "libnccl.so"})
    if (void* const found = ::dlopen(name, RTLD_NOW | RTLD_LOCAL)) return found;
  const char* const why = ::dlerror();
  fail(Errc::unsupported,
       "the nccl backend needs libnccl.so.2, which cannot be loaded ({}); install NCCL, or add its folder to "
       "LD_LIBRARY_PATH",
       why ? why : "no reason is given");
}

Functions find_all() {
  ::setenv("NCCL_COMM_BLOCKING", "0", 1);  // 1 would overrule begin(), and waits would never end
  void* const handle = load();
  Functions f;
#define DIST_NCCL(name)                                                \
  f.name = reinterpret_cast<decltype(f.name)>(::dlsym(handle, #name)); \
  if (!f.name) fail(Errc::unsupported, "this NCCL has no {}: 2.18 or newer is needed", #name);
#include "dist/backend/nccl/functions.inc"
#undef DIST_NCCL
  return f;
}

// bool is reduced as u8 with elements 0 and 1.
constexpr std::array types{ncclUint8,    ncclInt8,    ncclInt32,   ncclInt64, ncclFloat16,
                           ncclBfloat16, ncclFloat32, ncclFloat64, ncclUint8};
static_assert(types.size() == all_dtypes.size());
ncclDataType_t type_of(DType dtype) { return types[static_cast<std::size_t>(dtype)]; }

std::size_t count_of(const TensorView& view) { return static_cast<std::size_t>(view.count); }

class NcclLibrary final : public Library {
 public:
  NcclLibrary() : f_(find_all()) {}

  std::string version() const override {
    const int code = version_code();
    return fmt::format("{}.{}.{}", code / 10000, code / 100 % 100, code % 100);
  }

  UniqueId make_id() override {
    ncclUniqueId id;
    check(f_.ncclGetUniqueId(&id), "ncclGetUniqueId", nullptr);
    UniqueId bytes;
    static_assert(sizeof id == bytes.size());
    std::memcpy(bytes.data(), &id, sizeof id);
    return bytes;
  }

  Comm begin(Device device, int ranks, const UniqueId& bytes, int rank) override {
    const cuda_detail::UseDevice use(device);
    ncclUniqueId id;
    std::memcpy(&id, bytes.data(), sizeof id);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclComm_t comm = nullptr;
    check(f_.ncclCommInitRankConfig(&comm, ranks, id, rank, &config), "ncclCommInitRankConfig", nullptr);
    return comm;
  }

  // Before 2.27, ncclCommSplit of communicators that do not block reads what another thread left behind:
  // github.com/NVIDIA/nccl/issues/1605.
  bool can_split() const override { return version_code() >= NCCL_VERSION(2, 27, 0); }

  // The new communicators are like their parent: they do not block.
  void begin_split(Comm parent, int color, int key, Comm* made) override {
    static_assert(sizeof(ncclComm_t) == sizeof(Comm));
    check(f_.ncclCommSplit(of(parent), color < 0 ? NCCL_SPLIT_NOCOLOR : color, key,
                           reinterpret_cast<ncclComm_t*>(made), nullptr),
          "ncclCommSplit", parent);
  }

  bool is_busy(Comm comm) override {
    ncclResult_t state = ncclSuccess;
    check(f_.ncclCommGetAsyncError(of(comm), &state), "ncclCommGetAsyncError", comm);
    check(state, "NCCL", comm);
    return state == ncclInProgress;
  }

  void finalize(Comm comm) override { check(f_.ncclCommFinalize(of(comm)), "ncclCommFinalize", comm); }
  // NCCL switches back to the device that was current, which would create a context there.
  void destroy(Device device, Comm comm) noexcept override {
    const cuda_detail::UseDevice use(device, std::nothrow);
    f_.ncclCommDestroy(of(comm));
  }
  void abort(Device device, Comm comm) noexcept override {
    const cuda_detail::UseDevice use(device, std::nothrow);
    f_.ncclCommAbort(of(comm));
  }

  void begin_group() override { check(f_.ncclGroupStart(), "ncclGroupStart", nullptr); }
  void end_group() override { check(f_.ncclGroupEnd(), "ncclGroupEnd", nullptr); }

  void all_reduce(Comm comm, TensorView in, TensorView out, ReduceOp op, StreamHandle stream) override {
    const Op made(*this, comm, op, in.dtype);
    check(f_.ncclAllReduce(in.data, out.data, count_of(in), type_of(in.dtype), made, of(comm),
                           cuda_detail::stream_of(stream)),
          "ncclAllReduce", comm);
  }
  void reduce(Comm comm, TensorView in, TensorView out, ReduceOp op, int root, StreamHandle stream) override {
    const Op made(*this, comm, op, in.dtype);
    check(f_.ncclReduce(in.data, out.data, count_of(in), type_of(in.dtype), made, root, of(comm),
                        cuda_detail::stream_of(stream)),
          "ncclReduce", comm);
  }
  void broadcast(Comm comm, TensorView in, TensorView out, int root, StreamHandle stream) override {
    check(f_.ncclBroadcast(in.data, out.data, count_of(out), type_of(out.dtype), root, of(comm),
                           cuda_detail::stream_of(stream)),
          "ncclBroadcast", comm);
  }
  void all_gather(Comm comm, TensorView in, TensorView out, StreamHandle stream) override {
    check(f_.ncclAllGather(in.data, out.data, count_of(in), type_of(in.dtype), of(comm),
                           cuda_detail::stream_of(stream)),
          "ncclAllGather", comm);
  }
  void reduce_scatter(Comm comm, TensorView in, TensorView out, ReduceOp op, StreamHandle stream) override {
    const Op made(*this, comm, op, in.dtype);
    check(f_.ncclReduceScatter(in.data, out.data, count_of(out), type_of(in.dtype), made, of(comm),
                               cuda_detail::stream_of(stream)),
          "ncclReduceScatter", comm);
  }
  void send(Comm comm, TensorView in, int peer, StreamHandle stream) override {
    check(
        f_.ncclSend(in.data, count_of(in), type_of(in.dtype), peer, of(comm), cuda_detail::stream_of(stream)),
        "ncclSend", comm);
  }
  void recv(Comm comm, TensorView out, int peer, StreamHandle stream) override {
    check(f_.ncclRecv(out.data, count_of(out), type_of(out.dtype), peer, of(comm),
                      cuda_detail::stream_of(stream)),
          "ncclRecv", comm);
  }

 private:
  // NCCL's operation for the duration of one call: premul_sum is made for its factor.
  class Op {
   public:
    Op(NcclLibrary& library, Comm comm, ReduceOp op, DType dtype) : library_(library), comm_(of(comm)) {
      if (op.kind() == ReduceOp::Kind::premul_sum)
        make_premul_sum(op.factor(), dtype);
      else
        op_ = built_in(op.kind(), dtype);
    }
    ~Op() {
      if (made_) library_.f_.ncclRedOpDestroy(op_, comm_);
    }
    Op(const Op&) = delete;
    Op& operator=(const Op&) = delete;
    operator ncclRedOp_t() const { return op_; }

   private:
    // For bool, sum is "or" and product is "and".
    static ncclRedOp_t built_in(ReduceOp::Kind kind, DType dtype) {
      const bool is_bool = dtype == DType::boolean;
      switch (kind) {
        case ReduceOp::Kind::sum: return is_bool ? ncclMax : ncclSum;
        case ReduceOp::Kind::product: return is_bool ? ncclMin : ncclProd;
        case ReduceOp::Kind::min: return ncclMin;
        case ReduceOp::Kind::max: return ncclMax;
        case ReduceOp::Kind::avg: return ncclAvg;
        case ReduceOp::Kind::band:
        case ReduceOp::Kind::bor:
        case ReduceOp::Kind::bxor:
        case ReduceOp::Kind::premul_sum: break;
      }
      fail(Errc::internal, "NCCL has no {}; its caller must refuse it", dist::name(kind));
    }
    void make_premul_sum(double factor, DType dtype) {
      visit_dtype(dtype, [&]<class T>() {
        T scalar = convert_element<T>(factor);
        library_.check(library_.f_.ncclRedOpCreatePreMulSum(&op_, &scalar, type_of(dtype),
                                                            ncclScalarHostImmediate, comm_),
                       "ncclRedOpCreatePreMulSum", comm_);
      });
      made_ = true;
    }
    NcclLibrary& library_;
    ncclComm_t comm_;
    ncclRedOp_t op_ = ncclSum;
    bool made_ = false;
  };

  int version_code() const {
    int code = 0;
    f_.ncclGetVersion(&code);
    return code;
  }

  static ncclComm_t of(Comm comm) { return static_cast<ncclComm_t>(comm); }

  void check(ncclResult_t result, const char* call, Comm comm) const {
    if (result == ncclSuccess || result == ncclInProgress) return;
    const char* const said = f_.ncclGetLastError(of(comm));
    const Errc code = result == ncclRemoteError ? Errc::peer_failed : Errc::internal;
    fail(code, "{}", explain(call, f_.ncclGetErrorString(result), said ? said : ""));
  }

  const Functions f_;
};

}  // namespace

std::shared_ptr<Library> open_library() { return std::make_shared<NcclLibrary>(); }

}  // namespace dist::nccl
