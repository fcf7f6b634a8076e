#include "dist/parallel/shard/unit_plan.h"

#include <utility>

#include "dist/core/fail.h"
#include "dist/nn/checks.h"

namespace dist {

namespace {

std::vector<Shape> shapes_of(const std::vector<nn::NamedParameter>& parameters) {
  std::vector<Shape> shapes;
  for (const auto& named : parameters) shapes.push_back(named.parameter->value.shape());
  return shapes;
}

std::vector<PlacedAxis> axes_of(const DeviceMesh& mesh, CallSite where) {
  const auto sharded = [](std::string name, ProcessGroup group) {
    return PlacedAxis{.name = std::move(name),
                      .group = std::move(group),
                      .placement = Shard(0),
                      .grad_placement = Shard(0)};
  };
  if (!mesh) return {sharded("fsdp", {})};
  if (mesh.dim() > 2)
    fail(Errc::invalid_argument,
         "fully_shard: the mesh has {} axes; pass one (shard) or two (replicate, shard), such as "
         "mesh[\"fsdp\"]",
         mesh.dim());
  const std::vector<std::string> names = mesh.names();
  std::vector<PlacedAxis> axes;
  if (mesh.dim() == 2) axes.push_back({.name = names[0], .group = mesh.get_group(MeshAxis(0, where))});
  axes.push_back(sharded(names.back(), mesh.get_group(MeshAxis(mesh.dim() - 1, where))));
  return axes;
}

void check_dtypes(const MixedPrecision& mixed) {
  const auto check = [](std::string_view option, std::optional<DType> dtype) {
    if (dtype && !is_floating_point(*dtype))
      fail(Errc::invalid_argument,
           "fully_shard: mixed_precision.{} is {}, whose numbers are not floating point; pass f16, bf16, f32 "
           "or f64",
           option, name(*dtype));
  };
  check("param_dtype", mixed.param_dtype);
  check("reduce_dtype", mixed.reduce_dtype);
  check("output_dtype", mixed.output_dtype);
}

}  // namespace

namespace {

// "Linear(4, 4)"; of a module with others in it "Sequential", since these may have become units, and then
// print their own rows.
std::string name_of(const nn::Module& module) {
  const std::string text = module.str();
  const bool has_others = text.find('(', text.find('(') + 1) != std::string::npos;
  return has_others ? text.substr(0, text.find('(')) : text;
}

}  // namespace

UnitPlan::UnitPlan(const nn::Module& module, std::vector<nn::NamedParameter> of,
                   const FullyShardOptions& options, CallSite at)
    : parameters(std::move(of)),
      name(name_of(module)),
      where(at),
      axes(axes_of(options.mesh, at)),
      group(axes.back().group),
      replicas(axes.size() == 2 ? axes[0].group : ProcessGroup()),
      rank(get_rank(group, at)),
      ranks(get_world_size(group, at)),
      layout(shapes_of(parameters), ranks) {
  check_dtypes(options.mixed_precision);
  if (!parameters.empty()) {
    const Tensor& first = parameters[0].parameter->value;
    name += fmt::format(" (\"{}\")", parameters[0].name);
    dtype = first.dtype(), device = first.device();
  }
  for (const auto& [called, parameter] : parameters) {
    const Tensor& value = parameter->value;
    if (value.dtype() != dtype || value.device() != device)
      fail(Errc::invalid_argument,
           "fully_shard: \"{}\" of {} is {} on {}, other parameters of the unit are {} on {}; one unit has "
           "one "
           "dtype and one device: convert the module first",
           called, module.str(), dist::name(value.dtype()), value.device().str(), dist::name(dtype),
           device.str());
    for (const char* const role : {"ddp", "zero"})
      if (parameter->listener(role))
        fail(
            Errc::invalid_argument,
            "fully_shard: the gradient of \"{}\" of {} belongs to a {}, which reduces it as well; use one of "
            "the two",
            called, module.str(),
            std::string_view(role) == "ddp" ? "DistributedDataParallel" : "ZeroOptimizer");
  }
  for (const PlacedAxis& axis : axes) require_whole("fully_shard", parameters, axis.group, at);
  gathered = options.mixed_precision.param_dtype.value_or(dtype);
  computed = nn::is_trainable(gathered) ? gathered : DType::f32;
  reduced = options.mixed_precision.reduce_dtype.value_or(computed);
}

}  // namespace dist
