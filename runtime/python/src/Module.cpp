//===- Module.cpp - modules and their entries for Python ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C API as functions of tvm-ffi, which takes the tensors of any framework
// as DLPack has them, and knows the stream and the allocator that PyTorch has
// at the moment. Python holds names and messages, a call is here.
//
//===----------------------------------------------------------------------===//

#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>

#include "rmsnorm/device.h"
#include "rmsnorm/rmsnorm.h"

#include <array>
#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace ffi = tvm::ffi;

namespace {

constexpr int maxArguments = 64, maxRank = 8, maxOrdinals = 64;
constexpr uint64_t workspaceAlignment = 256;

/// A caller's mistake is a ValueError; the rest are errors of the machine.
void check(rmsnorm_status status) {
  if (status == RMSNORM_OK)
    return;
  if (status == RMSNORM_OUT_OF_MEMORY)
    TVM_FFI_THROW(MemoryError) << rmsnorm_last_error();
  if (status == RMSNORM_NO_DRIVER || status == RMSNORM_NO_DEVICE ||
      status == RMSNORM_DRIVER_ERROR || status == RMSNORM_KERNEL_FAULT)
    TVM_FFI_THROW(RuntimeError) << rmsnorm_last_error();
  TVM_FFI_THROW(ValueError) << rmsnorm_last_error();
}

template <typename T, void (*release)(T *)> struct Release {
  void operator()(T *object) const { release(object); }
};
using FunctionHandle =
    std::unique_ptr<rmsnorm_function,
                    Release<rmsnorm_function, rmsnorm_function_release>>;
/// Shared: memory that a result has is given back through it.
using DeviceHandle = std::shared_ptr<rmsnorm_device>;

/// Memory of a device for tensors of frameworks that lend us no allocator.
struct DeviceMemory {
  DeviceHandle device;
  void AllocData(DLTensor *tensor) {
    check(rmsnorm_device_allocate(device.get(), ffi::GetDataSize(*tensor),
                                  &tensor->data));
  }
  void FreeData(DLTensor *tensor) {
    if (tensor->data)
      rmsnorm_device_free(device.get(), tensor->data);
  }
};

//===--- Modules ----------------------------------------------------------===//

class ModuleObj : public ffi::Object {
public:
  static constexpr bool _type_mutable = true;

  rmsnorm_module *module = nullptr;
  /// That tensors in host memory are run on, and the program for it; none if
  /// `text` is empty.
  rmsnorm_backend hostBackend = RMSNORM_SIM;
  std::string device, target;

  ~ModuleObj() { rmsnorm_module_close(module); }

  /// The device that has tensors of this place. Opened once.
  DeviceHandle getDevice(DLDevice place);

  TVM_FFI_DECLARE_OBJECT_INFO_FINAL("rmsnorm.Module", ModuleObj, ffi::Object);

private:
  std::mutex mutex;
  std::map<std::pair<int, int>, DeviceHandle> devices;
};

class Module : public ffi::ObjectRef {
public:
  explicit Module(ffi::ObjectPtr<ModuleObj> object)
      : ObjectRef(std::move(object)) {}
  TVM_FFI_DEFINE_OBJECT_REF_METHODS_NOTNULLABLE(Module, ffi::ObjectRef,
                                                ModuleObj);
};

DeviceHandle ModuleObj::getDevice(DLDevice place) {
  if (place.device_type != kDLCUDA && place.device_type != kDLROCM &&
      place.device_type != kDLCPU)
    TVM_FFI_THROW(ValueError) << "expected tensors of CUDA, ROCm or in host "
                                 "memory, got one of DLPack's device type "
                              << int(place.device_type);
  if (place.device_type == kDLCPU && device.empty())
    TVM_FFI_THROW(ValueError)
        << "expected tensors of a GPU, got one in host memory; "
           "load(..., device=\"sim\") runs a module on the simulator, with "
           "native code from the module";
  const rmsnorm_backend backend = place.device_type == kDLCUDA   ? RMSNORM_CUDA
                                  : place.device_type == kDLROCM ? RMSNORM_HIP
                                                                 : hostBackend;
  std::lock_guard<std::mutex> lock(mutex);
  DeviceHandle &handle = devices[{place.device_type, place.device_id}];
  if (!handle) {
    rmsnorm_device_options options;
    rmsnorm_device_options_init(&options);
    options.ordinal = place.device_type == kDLCPU ? 0 : place.device_id;
    if (place.device_type == kDLCPU && !target.empty())
      options.target = target.c_str();
    rmsnorm_device *opened = nullptr;
    check(rmsnorm_device_open(backend, &options, &opened));
    handle = DeviceHandle(opened, rmsnorm_device_close);
  }
  return handle;
}

/// `device`: "", "sim", "sim:CHIP" or "oracle".
Module makeModule(rmsnorm_module *opened, const ffi::String &device) {
  auto object = ffi::make_object<ModuleObj>();
  object->module = opened;
  object->device = std::string(device);
  if (object->device == "oracle")
    object->hostBackend = RMSNORM_ORACLE;
  else if (object->device.rfind("sim:", 0) == 0)
    object->target = object->device;
  else if (!object->device.empty() && object->device != "sim")
    TVM_FFI_THROW(ValueError)
        << "device: expected \"sim\", \"sim:CHIP\" or \"oracle\" for tensors "
           "in host memory, got \""
        << object->device << "\"; a GPU is that of the tensors";
  return Module(object);
}

Module openFile(ffi::String path, ffi::String device) {
  rmsnorm_module *module = nullptr;
  check(rmsnorm_module_open_file(path.c_str(), &module));
  return makeModule(module, device);
}

Module openBytes(ffi::Bytes bytes, ffi::String device) {
  rmsnorm_module *module = nullptr;
  check(rmsnorm_module_open_memory(bytes.data(), bytes.size(), &module));
  return makeModule(module, device);
}

ffi::String describe(Module module, ffi::String entry, bool json) {
  rmsnorm_describe_options options = {};
  options.entry = entry.empty() ? nullptr : entry.c_str();
  options.json = json;
  char *text = nullptr;
  check(rmsnorm_module_describe_with(module->module, &options, &text));
  std::unique_ptr<char, void (*)(void *)> owner(
      text, [](void *memory) { rmsnorm_free(memory); });
  return ffi::String(text);
}

/// Waits for the work on the default stream of the tensor's device.
void synchronize(Module module, DLTensor *tensor) {
  check(rmsnorm_stream_synchronize(module->getDevice(tensor->device).get(),
                                   nullptr));
}

//===--- Calls ------------------------------------------------------------===//

/// An entry on a device, and the workspaces of its calls.
struct Prepared {
  DeviceHandle device;
  FunctionHandle function;
  /// Held from getWorkspace to the end of the launch: kernels of two calls that
  /// share one must not alternate on their stream.
  std::mutex launching;

  /// Of at least so many bytes, for calls on `stream`, which come one after
  /// the other. A smaller one stays: a graph that was captured may have it.
  void *getWorkspace(void *stream, uint64_t bytes) {
    for (const Workspace &workspace : workspaces)
      if (workspace.stream == stream && workspace.bytes >= bytes)
        return workspace.memory.get();
    void *memory = nullptr;
    check(rmsnorm_device_allocate(device.get(), bytes, &memory));
    workspaces.push_back(
        {stream, bytes,
         std::shared_ptr<void>(memory, [device = device](void *memory) {
           rmsnorm_device_free(device.get(), memory);
         })});
    return workspaces.back().memory.get();
  }

private:
  struct Workspace {
    void *stream;
    uint64_t bytes;
    std::shared_ptr<void> memory;
  };
  std::list<Workspace> workspaces;
};

/// Two elements a byte as PyTorch has them, an element being a pair, as the
/// runtime has them: each an element.
class Unpaired {
public:
  static bool isPaired(const DLDataType &type) {
    return type.bits == 4 && type.lanes == 2;
  }
  DLTensor *set(const DLTensor &paired) {
    tensor = paired;
    tensor.dtype.lanes = 1;
    if (paired.ndim < 1 || paired.ndim > maxRank)
      return &tensor;
    const int last = paired.ndim - 1;
    for (int d = 0; d <= last; ++d) {
      sizes[d] = paired.shape[d] * (d == last ? 2 : 1);
      if (paired.strides)
        strides[d] =
            paired.strides[d] * (d == last && paired.strides[d] == 1 ? 1 : 2);
    }
    tensor.shape = sizes;
    tensor.strides = paired.strides ? strides : nullptr;
    return &tensor;
  }

private:
  DLTensor tensor;
  int64_t sizes[maxRank], strides[maxRank];
};

/// A tensor without gaps as the vector or the matrix that an argument is: of
/// any shape for a vector, and of one that ends in `rowShape` for a matrix.
class Rows {
public:
  /// Null if the tensor is none.
  DLTensor *set(const DLTensor &given, const rmsnorm_argument_info &argument,
                const ffi::Shape &rowShape) {
    const int rowRank = argument.rank == 2 ? int(rowShape.size()) : 0;
    if (argument.rank < 1 || argument.rank > 2 || given.ndim < rowRank ||
        given.ndim > maxRank)
      return nullptr;
    sizes[0] = sizes[1] = 1;
    for (int d = given.ndim; d-- > 0;) {
      const int place = d - (given.ndim - rowRank);
      if ((place >= 0 && given.shape[d] != rowShape[size_t(place)]) ||
          (given.strides && given.shape[d] != 1 &&
           given.strides[d] != sizes[0] * sizes[1]))
        return nullptr;
      sizes[place >= 0] *= given.shape[d];
    }
    tensor = given;
    tensor.ndim = argument.rank;
    tensor.shape = sizes;
    tensor.strides = nullptr;
    return &tensor;
  }

private:
  DLTensor tensor;
  int64_t sizes[2];
};

/// An entry of a module: call(stream, inputs..., results...). The stream may be
/// None. If the results are left out, they are allocated and returned. An
/// argument that is not a tensor is a ValueError. With the shape of a row, the
/// entry takes tensors as Rows does and returns false if an argument is not a
/// tensor, and the first results may be given without the others.
class Entry {
public:
  Entry(Module module, const std::string &name, uint32_t flags,
        ffi::Optional<ffi::Shape> rowShape);
  void call(ffi::PackedArgs args, ffi::Any *result);

  /// For frameworks whose tensors never change: call(stream, inputs...,
  /// results..., changed...), where the stream is a number and the last are
  /// the memory of inputs that change in place, in their order.
  void callWithChanged(ffi::PackedArgs args);

  /// The sizes of all results that follow from those of the tensors given.
  ffi::Array<ffi::Shape> inferResults(ffi::Array<ffi::Shape> shapes);

private:
  Prepared &prepare(DLDevice place);
  /// Takes the sizes of shape symbols from those of argument `i`.
  void readSymbols(size_t i, int rank, const int64_t *shape,
                   int64_t *symbols) const;
  void inferSymbols(int64_t *symbols) const;
  /// Of argument `i`; < 0 where a size is not known.
  void getSizes(size_t i, const int64_t *symbols, int64_t *sizes) const;
  ffi::Tensor allocate(size_t i, const int64_t *symbols, DLDevice place,
                       const DeviceHandle &device) const;
  /// Those without a tensor.
  void makeResults(Prepared &prepared, DLTensor **tensors, DLDevice place,
                   std::vector<ffi::Tensor> &results) const;
  /// The k-th tensor of a call.
  DLTensor *getTensor(const ffi::AnyView &given, size_t k) const;
  /// On the stream given, or on the framework's.
  void launch(Prepared &prepared, DLTensor **tensors, DLDevice place,
              std::optional<void *> given) const;

  Module module;
  std::string name;
  uint32_t flags;
  ffi::Optional<ffi::Shape> rowShape;
  size_t index = 0;
  uint64_t derivedSymbols = 0;
  std::vector<rmsnorm_argument_info> arguments;
  /// Places among the arguments: of those that a call must give, then of the
  /// results.
  std::vector<size_t> order;
  size_t numGiven = 0;
  /// By the ordinal of the device, for CUDA, ROCm and host memory.
  std::array<std::array<std::atomic<Prepared *>, maxOrdinals>, 3> prepared = {};
  std::mutex mutex;
  std::list<Prepared> all;
};

Entry::Entry(Module owner, const std::string &name, uint32_t flags,
             ffi::Optional<ffi::Shape> rowShape)
    : module(std::move(owner)), name(name), flags(flags),
      rowShape(std::move(rowShape)) {
  check(rmsnorm_module_find_entry(module->module, name.c_str(), &index));
  rmsnorm_entry_info info;
  check(rmsnorm_module_get_entry(module->module, index, &info));
  derivedSymbols = info.derived_symbols;
  arguments.resize(info.argument_count);
  for (size_t i = 0; i < arguments.size(); ++i)
    check(rmsnorm_module_get_argument(module->module, index, i, &arguments[i]));
  for (bool isResult : {false, true})
    for (size_t i = 0; i < arguments.size(); ++i)
      if ((arguments[i].role == RMSNORM_OUTPUT) == isResult) {
        order.push_back(i);
        numGiven += !isResult;
      }
}

Prepared &Entry::prepare(DLDevice place) {
  const int kind = place.device_type == kDLCUDA   ? 0
                   : place.device_type == kDLROCM ? 1
                                                  : 2;
  if (place.device_id < 0 || place.device_id >= maxOrdinals)
    TVM_FFI_THROW(ValueError) << "expected a device below " << maxOrdinals
                              << ", got " << place.device_id;
  std::atomic<Prepared *> &slot = prepared[kind][place.device_id];
  if (Prepared *found = slot.load(std::memory_order_acquire))
    if (kind < 2 || place.device_type == kDLCPU)
      return *found;
  DeviceHandle device = module->getDevice(place);
  std::lock_guard<std::mutex> lock(mutex);
  if (Prepared *found = slot.load(std::memory_order_acquire))
    return *found;
  rmsnorm_function *function = nullptr;
  check(rmsnorm_prepare(module->module, name.c_str(), device.get(), &function));
  Prepared &made = all.emplace_back();
  made.device = std::move(device);
  made.function.reset(function);
  slot.store(&made, std::memory_order_release);
  return made;
}

void Entry::readSymbols(size_t i, int rank, const int64_t *shape,
                        int64_t *symbols) const {
  // The check of a launch reports an argument that does not fit.
  if (rank != arguments[i].rank)
    return;
  for (int d = 0; d < rank; ++d)
    if (const int64_t dim = arguments[i].dims[d];
        dim < 0 && symbols[-1 - dim] < 0)
      symbols[-1 - dim] = shape[d];
}

void Entry::inferSymbols(int64_t *symbols) const {
  if (derivedSymbols)
    check(rmsnorm_module_infer_sizes(module->module, index, symbols));
}

void Entry::getSizes(size_t i, const int64_t *symbols, int64_t *sizes) const {
  const rmsnorm_argument_info &argument = arguments[i];
  for (int d = 0; d < argument.rank; ++d)
    sizes[d] = argument.dims[d] >= 0 ? argument.dims[d]
                                     : symbols[-1 - argument.dims[d]];
}

ffi::Array<ffi::Shape> Entry::inferResults(ffi::Array<ffi::Shape> shapes) {
  int64_t symbols[RMSNORM_MAX_SYMBOLS], sizes[maxRank];
  std::fill(std::begin(symbols), std::end(symbols), -1);
  for (size_t k = 0; k < numGiven && k < shapes.size(); ++k)
    readSymbols(order[k], int(shapes[k].size()), shapes[k].data(), symbols);
  inferSymbols(symbols);
  ffi::Array<ffi::Shape> results;
  for (size_t k = numGiven; k < order.size(); ++k) {
    getSizes(order[k], symbols, sizes);
    results.push_back(ffi::Shape(sizes, sizes + arguments[order[k]].rank));
  }
  return results;
}

ffi::Tensor Entry::allocate(size_t i, const int64_t *symbols, DLDevice place,
                            const DeviceHandle &device) const {
  int64_t sizes[maxRank];
  const rmsnorm_argument_info &argument = arguments[i];
  getSizes(i, symbols, sizes);
  for (int d = 0; d < argument.rank; ++d)
    if (sizes[d] < 0)
      TVM_FFI_THROW(ValueError)
          << "result '" << argument.name << "': the size of dimension " << d
          << " does not follow from the tensors given; give the result as out=";
  DLDataType type = argument.dtype;
  if (place.device_type == kDLCPU && module->hostBackend == RMSNORM_ORACLE) {
    type = {kDLComplex, 128, 1};
  } else if (type.bits == 4 && argument.rank > 0) {
    // As frameworks have them, see Unpaired.
    type.lanes = 2;
    sizes[argument.rank - 1] /= 2;
  }
  const ffi::ShapeView shape(sizes, size_t(argument.rank));
  if (TVMFFIEnvGetDLPackManagedTensorAllocator())
    return ffi::Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, shape, type, place);
  return ffi::Tensor::FromNDAlloc(DeviceMemory{device}, shape, type, place);
}

void Entry::makeResults(Prepared &prepared, DLTensor **tensors, DLDevice place,
                        std::vector<ffi::Tensor> &results) const {
  int64_t symbols[RMSNORM_MAX_SYMBOLS];
  std::fill(std::begin(symbols), std::end(symbols), -1);
  for (size_t k = 0; k < numGiven; ++k) {
    const DLTensor &tensor = *tensors[order[k]];
    readSymbols(order[k], tensor.ndim, tensor.shape, symbols);
  }
  inferSymbols(symbols);
  for (size_t k = numGiven; k < order.size(); ++k) {
    const size_t i = order[k];
    if (tensors[i])
      continue;
    const rmsnorm_argument_info &argument = arguments[i];
    // A tensor of the wrong rank: its own message is better than one of a
    // result's size.
    DLTensor none = {};
    for (int d = 0; d < argument.rank; ++d)
      if (argument.dims[d] < 0 && symbols[-1 - argument.dims[d]] < 0) {
        DLTensor *all[maxArguments];
        for (size_t j = 0; j < arguments.size(); ++j)
          all[j] = tensors[j] ? tensors[j] : &none;
        uint64_t bytes;
        check(rmsnorm_workspace_size(prepared.function.get(), all,
                                     arguments.size(), &bytes));
      }
    results.push_back(allocate(i, symbols, place, prepared.device));
    tensors[i] = const_cast<DLTensor *>(results.back().GetDLTensorPtr());
  }
}

DLTensor *Entry::getTensor(const ffi::AnyView &given, size_t k) const {
  const std::optional<DLTensor *> tensor = given.try_cast<DLTensor *>();
  if (!tensor)
    TVM_FFI_THROW(ValueError)
        << "argument '" << arguments[order[k]].name
        << "': expected a tensor, got " << given.GetTypeKey();
  return *tensor;
}

void Entry::launch(Prepared &prepared, DLTensor **tensors, DLDevice place,
                   std::optional<void *> given) const {
  void *stream = given ? *given
                 : place.device_type == kDLCPU
                     ? nullptr
                     : TVMFFIEnvGetStream(place.device_type, place.device_id);
  uint64_t bytes = 0;
  void *workspace = nullptr;
  ffi::Optional<ffi::Tensor> block;
  std::unique_lock<std::mutex> launching;
  check(rmsnorm_workspace_size(prepared.function.get(), tensors,
                               arguments.size(), &bytes));
  if (bytes && place.device_type == kDLCPU) {
    // Calls of several threads are not one after the other. Each has ended
    // when it returns.
    const int64_t size = int64_t(bytes);
    block = ffi::Tensor::FromNDAlloc(DeviceMemory{prepared.device},
                                     ffi::ShapeView(&size, 1),
                                     DLDataType{kDLUInt, 8, 1}, place);
    workspace = (*block).data_ptr();
  } else if (bytes && !given && TVMFFIEnvGetDLPackManagedTensorAllocator()) {
    // The framework gives it only to later work on its stream.
    const int64_t size = int64_t(bytes + workspaceAlignment - 1);
    block = ffi::Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc,
                                      ffi::ShapeView(&size, 1),
                                      DLDataType{kDLUInt, 8, 1}, place);
    const uint64_t address = reinterpret_cast<uint64_t>((*block).data_ptr());
    workspace =
        reinterpret_cast<void *>((address + workspaceAlignment - 1) /
                                 workspaceAlignment * workspaceAlignment);
  } else if (bytes) {
    launching = std::unique_lock<std::mutex>(prepared.launching);
    workspace = prepared.getWorkspace(stream, bytes);
  }
  check(rmsnorm_launch_with_flags(prepared.function.get(), tensors,
                                  arguments.size(), workspace, bytes, stream,
                                  flags));
}

void Entry::call(ffi::PackedArgs args, ffi::Any *result) {
  const size_t count = size_t(args.size()) - 1;
  const bool isComplete = count == numGiven || count == order.size();
  if (count < numGiven || count > order.size() || !(isComplete || rowShape))
    TVM_FFI_THROW(ValueError)
        << "entry '" << name << "': expected " << numGiven << " tensors, or "
        << order.size() << " with those for results, got " << count;
  DLTensor *tensors[maxArguments] = {};
  Rows rows[maxArguments];
  for (size_t k = 0; k < count; ++k) {
    const size_t i = order[k];
    tensors[i] = getTensor(args[int(k) + 1], k);
    if (rowShape &&
        !(tensors[i] = rows[k].set(*tensors[i], arguments[i], *rowShape))) {
      *result = false;
      return;
    }
  }
  const DLDevice place = tensors[order[0]]->device;
  Prepared &prepared = prepare(place);

  std::vector<ffi::Tensor> results;
  std::list<Unpaired> unpaired;
  auto unpair = [&](size_t i) {
    if (Unpaired::isPaired(tensors[i]->dtype))
      tensors[i] = unpaired.emplace_back().set(*tensors[i]);
  };
  for (size_t k = 0; k < count; ++k)
    unpair(order[k]);
  if (count < order.size()) {
    makeResults(prepared, tensors, place, results);
    for (size_t k = count; k < order.size(); ++k)
      unpair(order[k]);
  }

  std::optional<void *> stream;
  if (args[0].type_index() != ffi::TypeIndex::kTVMFFINone)
    stream = args[0].cast<void *>();
  launch(prepared, tensors, place, stream);
  if (results.size() == 1)
    *result = results[0];
  else if (!results.empty())
    *result = ffi::Array<ffi::Tensor>(results.begin(), results.end());
}

void Entry::callWithChanged(ffi::PackedArgs args) {
  std::vector<size_t> changed; // places among the inputs
  for (size_t k = 0; k < numGiven; ++k)
    if (arguments[order[k]].role == RMSNORM_INOUT)
      changed.push_back(k);
  const size_t count = size_t(args.size()) - 1;
  if (count != order.size() + changed.size())
    TVM_FFI_THROW(ValueError)
        << "entry '" << name << "': expected " << order.size() + changed.size()
        << " tensors, those of inputs, of results and of inputs that change, "
           "got "
        << count;
  DLTensor *tensors[maxArguments] = {};
  std::list<Unpaired> unpaired;
  for (size_t k = 0; k < order.size(); ++k) {
    DLTensor *&tensor = tensors[order[k]];
    tensor = getTensor(args[int(k) + 1], k);
    if (Unpaired::isPaired(tensor->dtype))
      tensor = unpaired.emplace_back().set(*tensor);
  }
  for (size_t c = 0; c < changed.size(); ++c)
    if (getTensor(args[int(order.size() + c) + 1], changed[c])->data !=
        tensors[order[changed[c]]]->data)
      TVM_FFI_THROW(RuntimeError)
          << "argument '" << arguments[order[changed[c]]].name
          << "': expected what it becomes in its own memory, got other memory";
  const DLDevice place = tensors[order[0]]->device;
  launch(prepare(place), tensors, place,
         reinterpret_cast<void *>(args[0].cast<int64_t>()));
}

/// An entry, ready to be called, and the function that tells sizes of results.
ffi::Array<ffi::Function> getEntry(Module module, ffi::String name,
                                   int64_t flags,
                                   ffi::Optional<ffi::Shape> rowShape) {
  auto entry = std::make_shared<Entry>(module, std::string(name),
                                       uint32_t(flags), std::move(rowShape));
  auto call = [entry](ffi::PackedArgs args, ffi::Any *result) {
    entry->call(args, result);
  };
  auto infer = [entry](ffi::Array<ffi::Shape> shapes) {
    return entry->inferResults(shapes);
  };
  return {ffi::Function::FromPacked(call), ffi::Function::FromTyped(infer)};
}

/// See Entry::callWithChanged.
ffi::Function getCallWithChanged(Module module, ffi::String name,
                                 int64_t flags) {
  auto entry = std::make_shared<Entry>(module, std::string(name),
                                       uint32_t(flags), std::nullopt);
  return ffi::Function::FromPacked([entry](ffi::PackedArgs args, ffi::Any *) {
    entry->callWithChanged(args);
  });
}

/// The same memory with elements of another type of as many bits, for
/// frameworks that cannot name the type.
ffi::Tensor retype(ffi::Tensor tensor, DLDataType type) {
  DLManagedTensorVersioned *view = tensor.ToDLPackVersioned();
  DLDataType &own = view->dl_tensor.dtype;
  if (own.bits * own.lanes != type.bits * type.lanes) {
    view->deleter(view);
    TVM_FFI_THROW(ValueError) << "expected a type of as many bits";
  }
  own = type;
  return ffi::Tensor::FromDLPackVersioned(view);
}

ffi::String version() { return rmsnorm_version(); }

} // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(open_file, openFile);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(open_bytes, openBytes);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(describe, describe);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(get_entry, getEntry);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(get_call_with_changed, getCallWithChanged);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(retype, retype);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(synchronize, synchronize);
TVM_FFI_DLL_EXPORT_TYPED_FUNC(version, version);
