//! The foreign functions of LLVM and MLIR: the one file of the project with `unsafe` code.
//!
//! Everything it exports is safe to call, so each block below is justified here, in this file. The
//! justification covers the owner and the lifetime of the object behind a raw handle, and that a
//! call's memory fits the function's type. melior owns contexts and modules. If it has no safe form
//! of a function (or one that panics or prints), the C API is called directly.
//!
//! Invariants: an LLVM module never outlives its context; an engine's functions are called only
//! through signatures read from the very module it was compiled from.

#![allow(unsafe_code)]
// The constants of C keep their names.
#![allow(non_upper_case_globals)]

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::ptr;

use melior::dialect::DialectRegistry;
use melior::ir::{Location, Module};
use melior::{Context, utility};
use mlir_sys::*;

use super::layout::{JitType, JitValue, LlvmType, Signature, Slot};
use super::{JitError, LlvmDiagnostic, OptLevel, Place, Severity};
use crate::to_llvm::threads;

/// The maximal nesting of a type or a location to examine.
const MAX_DEPTH: u32 = 64;

/// Libraries with an OpenMP run-time: LLVM's, and GCC's.
const OPENMP: [&CStr; 4] = [c"libomp.so.5", c"libomp.so", c"libomp.dylib", c"libgomp.so.1"];

/// Parses and verifies `text`, then applies `work` to the module. Returns MLIR's diagnostics if the
/// text is no module or `work` returns nothing.
pub(super) fn with_module<T>(
    text: &str,
    work: impl FnOnce(&Module<'_>) -> Option<T>,
) -> Result<T, Vec<LlvmDiagnostic>> {
    // MLIR reads a C string.
    if let Some(at) = text.find('\0') {
        return Err(vec![error(format!("the text holds a NUL byte at offset {at}"))]);
    }
    let registry = DialectRegistry::new();
    utility::register_all_dialects(&registry);
    let context = Context::new_with_registry(&registry, false);
    utility::register_all_llvm_translations(&context);
    let sink = DiagnosticSink::attach(&context);
    let outcome = Module::parse(&context, text).and_then(|module| work(&module));
    let diagnostics = sink.detach();
    outcome.ok_or_else(|| match diagnostics {
        none if none.is_empty() => vec![error("MLIR gave no reason".into())],
        some => some,
    })
}

fn error(message: String) -> LlvmDiagnostic {
    LlvmDiagnostic { severity: Severity::Error, place: None, message, notes: Vec::new() }
}

/// Collects the diagnostics of a context, instead of letting it print them.
struct DiagnosticSink<'c> {
    context: &'c Context,
    handler: MlirDiagnosticHandlerID,
    collected: *mut Vec<LlvmDiagnostic>,
}

impl<'c> DiagnosticSink<'c> {
    fn attach(context: &'c Context) -> Self {
        let collected: *mut Vec<LlvmDiagnostic> = Box::into_raw(Box::default());
        // SAFETY: `collected` is valid until `drop`, which detaches the handler before it frees it.
        // The context has no threads, so the handler runs only inside calls made through it, when
        // nobody holds the vector.
        let handler = unsafe {
            mlirContextAttachDiagnosticHandler(
                context.to_raw(),
                Some(collect_diagnostic),
                collected.cast(),
                None,
            )
        };
        DiagnosticSink { context, handler, collected }
    }

    fn detach(self) -> Vec<LlvmDiagnostic> {
        // SAFETY: the handler is not running, so this is the only reference.
        std::mem::take(unsafe { &mut *self.collected })
    }
}

impl Drop for DiagnosticSink<'_> {
    fn drop(&mut self) {
        // SAFETY: attached in `attach` and detached only here; afterwards there is no other
        // reference to the box.
        unsafe {
            mlirContextDetachDiagnosticHandler(self.context.to_raw(), self.handler);
            drop(Box::from_raw(self.collected));
        }
    }
}

/// Handler of a [`DiagnosticSink`].
unsafe extern "C" fn collect_diagnostic(raw: MlirDiagnostic, sink: *mut c_void) -> MlirLogicalResult {
    // SAFETY: MLIR passes the pointer given in `attach` and a diagnostic valid during this call.
    unsafe { (*sink.cast::<Vec<LlvmDiagnostic>>()).push(read_diagnostic(raw, 0)) };
    MlirLogicalResult { value: 1 }
}

/// # Safety
/// `raw` must be valid.
unsafe fn read_diagnostic(raw: MlirDiagnostic, depth: u32) -> LlvmDiagnostic {
    let mut message = Vec::<u8>::new();
    // SAFETY: `raw` is valid by contract; `append_bytes` gets the vector it expects, alive during
    // the call; a note's index is below their number.
    unsafe {
        mlirDiagnosticPrint(raw, Some(append_bytes), (&raw mut message).cast());
        let notes = if depth < MAX_DEPTH { mlirDiagnosticGetNumNotes(raw) } else { 0 };
        LlvmDiagnostic {
            severity: match mlirDiagnosticGetSeverity(raw) {
                MlirDiagnosticSeverity_MlirDiagnosticWarning => Severity::Warning,
                MlirDiagnosticSeverity_MlirDiagnosticNote => Severity::Note,
                MlirDiagnosticSeverity_MlirDiagnosticRemark => Severity::Remark,
                _ => Severity::Error,
            },
            place: read_place(mlirDiagnosticGetLocation(raw)),
            message: String::from_utf8_lossy(&message).into_owned(),
            notes: (0..notes).map(|i| read_diagnostic(mlirDiagnosticGetNote(raw, i), depth + 1)).collect(),
        }
    }
}

/// String callback that appends to the `Vec<u8>` behind `vector`.
unsafe extern "C" fn append_bytes(chunk: MlirStringRef, vector: *mut c_void) {
    if chunk.length > 0 {
        // SAFETY: the caller passes a valid vector; a chunk is valid during the call and not empty.
        unsafe {
            let bytes = std::slice::from_raw_parts(chunk.data.cast::<u8>(), chunk.length);
            (*vector.cast::<Vec<u8>>()).extend_from_slice(bytes);
        }
    }
}

/// Returns the first file position in `location`.
///
/// # Safety
/// `location` must be valid.
unsafe fn read_place(mut location: MlirLocation) -> Option<Place> {
    for _ in 0..MAX_DEPTH {
        // SAFETY: each accessor is called on a location of the kind just tested; the parts of a
        // location live as long as its context, which is alive while `location` is.
        unsafe {
            if mlirLocationIsAFileLineColRange(location) {
                let file = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location));
                let mut name = Vec::<u8>::new();
                append_bytes(file, (&raw mut name).cast());
                return Some(Place {
                    file: String::from_utf8_lossy(&name).into_owned(),
                    line: mlirLocationFileLineColRangeGetStartLine(location).try_into().unwrap_or(0),
                    column: mlirLocationFileLineColRangeGetStartColumn(location).try_into().unwrap_or(0),
                });
            } else if mlirLocationIsAName(location) {
                location = mlirLocationNameGetChildLoc(location);
            } else if mlirLocationIsACallSite(location) {
                location = mlirLocationCallSiteGetCallee(location);
            } else if mlirLocationIsAFused(location) && mlirLocationFusedGetNumLocations(location) > 0 {
                let mut parts = vec![location; mlirLocationFusedGetNumLocations(location) as usize];
                mlirLocationFusedGetLocations(location, parts.as_mut_ptr());
                location = parts[0];
            } else {
                return None;
            }
        }
    }
    None
}

/// A module of LLVM IR with its own context.
pub(super) struct LlvmModule {
    context: LLVMContextRef,
    module: LLVMModuleRef,
    /// Errors of code generation, filled by the context's handler.
    errors: *mut Vec<String>,
}

impl LlvmModule {
    /// Returns the LLVM IR of `module`. Errors go to the MLIR context's handlers.
    pub(super) fn translate(module: &Module<'_>) -> Option<LlvmModule> {
        // SAFETY: `module` is alive; the new context is owned by the result and freed once, in
        // `drop`, after the module in it and before the vector its handler writes to.
        unsafe {
            let context = LLVMContextCreate();
            let errors: *mut Vec<String> = Box::into_raw(Box::default());
            LLVMContextSetDiagnosticHandler(context, Some(collect_llvm_error), errors.cast());
            let translated = mlirTranslateModuleToLLVMIR(module.as_operation().to_raw(), context);
            let whole = LlvmModule { context, module: translated, errors };
            if translated.is_null() { None } else { Some(whole) }
        }
    }

    /// Its textual form.
    pub(super) fn text(&self) -> String {
        // SAFETY: the module is valid; the message is a fresh C string of LLVM's.
        unsafe { take_message(LLVMPrintModuleToString(self.module)) }
    }

    /// Returns the functions and global variables, in order.
    fn globals(&self) -> Vec<Global> {
        let mut globals = Vec::new();
        // SAFETY: iterators of a valid module; they end with null.
        unsafe {
            let mut function = LLVMGetFirstFunction(self.module);
            while !function.is_null() {
                globals.push(Global { value: function, is_function: true });
                function = LLVMGetNextFunction(function);
            }
            let mut variable = LLVMGetFirstGlobal(self.module);
            while !variable.is_null() {
                globals.push(Global { value: variable, is_function: false });
                variable = LLVMGetNextGlobal(variable);
            }
        }
        globals
    }

    /// Returns the functions with a body, each with its calling convention or the reason why it
    /// cannot be called.
    fn defined_functions(&self) -> Vec<(String, Result<Callable, String>)> {
        let defined = |global: &Global| global.is_function && !global.is_declaration();
        // SAFETY: each is a function of this module, which is alive.
        let describe = |global: Global| (global.name(), unsafe { global.callable() });
        self.globals().into_iter().filter(defined).map(describe).collect()
    }

    /// Returns the symbols that the module uses and neither the module nor this process defines.
    /// Loads an OpenMP run-time if the module uses one.
    fn undefined_symbols(&self) -> Vec<String> {
        // SAFETY: a null name opens the running program itself, which is open already.
        unsafe { LLVMLoadLibraryPermanently(ptr::null()) };
        let missing = self.missing_symbols();
        if !missing.iter().any(|name| threads::RUN_TIME.contains(&name.as_str())) {
            return missing;
        }
        for library in OPENMP {
            // SAFETY: the name is a C string. Loading an OpenMP run-time has no effect of its own.
            if unsafe { LLVMLoadLibraryPermanently(library.as_ptr()) } == 0 {
                break;
            }
        }
        self.missing_symbols()
    }

    /// Returns the symbols that the module uses and neither the module nor a loaded library
    /// defines.
    fn missing_symbols(&self) -> Vec<String> {
        let undefined = |global: &Global| {
            // SAFETY: a global of this module, which is alive; the name is a C string.
            global.is_declaration()
                && unsafe {
                    let is_intrinsic = global.is_function && LLVMGetIntrinsicID(global.value) != 0;
                    let may_be_null = LLVMGetLinkage(global.value) == LLVMLinkage_LLVMExternalWeakLinkage;
                    let is_used = !LLVMGetFirstUse(global.value).is_null();
                    let found = CString::new(global.name())
                        .is_ok_and(|name| !LLVMSearchForAddressOfSymbol(name.as_ptr()).is_null());
                    is_used && !is_intrinsic && !may_be_null && !found
                }
        };
        self.globals().iter().filter(|global| undefined(global)).map(Global::name).collect()
    }

    /// Optimises it and generates code for the module's own target triple, or this machine's.
    pub(super) fn object_file(self, level: OptLevel) -> Result<Vec<u8>, String> {
        let machine = TargetMachine::new(self.module, level)?;
        // SAFETY: module and machine are alive throughout; each object made here is freed here,
        // once.
        unsafe {
            let layout = LLVMCreateTargetDataLayout(machine.raw);
            LLVMSetModuleDataLayout(self.module, layout);
            LLVMDisposeTargetData(layout);
            let options = LLVMCreatePassBuilderOptions();
            let pipeline = CString::new(format!("default<O{}>", level.number())).unwrap_or_default();
            let failure = LLVMRunPasses(self.module, pipeline.as_ptr(), machine.raw, options);
            LLVMDisposePassBuilderOptions(options);
            if !failure.is_null() {
                let words = LLVMGetErrorMessage(failure);
                let message = CStr::from_ptr(words).to_string_lossy().into_owned();
                LLVMDisposeErrorMessage(words);
                return Err(message);
            }
            let (mut message, mut buffer) = (ptr::null_mut(), ptr::null_mut());
            let failed = LLVMTargetMachineEmitToMemoryBuffer(
                machine.raw,
                self.module,
                OBJECT_FILE,
                &mut message,
                &mut buffer,
            ) != 0;
            if failed {
                return Err(take_message(message));
            }
            let start = LLVMGetBufferStart(buffer).cast::<u8>();
            let bytes = std::slice::from_raw_parts(start, LLVMGetBufferSize(buffer)).to_vec();
            LLVMDisposeMemoryBuffer(buffer);
            // The handler is not running, so this is the only reference.
            match std::mem::take(&mut *self.errors) {
                none if none.is_empty() => Ok(bytes),
                some => Err(some.join("; ")),
            }
        }
    }
}

impl Drop for LlvmModule {
    fn drop(&mut self) {
        // SAFETY: owned, and freed nowhere else.
        unsafe {
            if !self.module.is_null() {
                LLVMDisposeModule(self.module);
            }
            LLVMContextDispose(self.context);
            drop(Box::from_raw(self.errors));
        }
    }
}

/// Handler of an LLVM context. Without one, LLVM prints and ends the process.
unsafe extern "C" fn collect_llvm_error(info: LLVMDiagnosticInfoRef, errors: *mut c_void) {
    // SAFETY: LLVM passes the pointer given in `translate` and a diagnostic valid during this call.
    unsafe {
        if LLVMGetDiagInfoSeverity(info) == LLVMDiagnosticSeverity_LLVMDSError {
            let message = take_message(LLVMGetDiagInfoDescription(info));
            (*errors.cast::<Vec<String>>()).push(message);
        }
    }
}

/// # Safety
/// `message` must be null or a C string that LLVM made for its caller to dispose.
unsafe fn take_message(message: *mut c_char) -> String {
    if message.is_null() {
        return String::new();
    }
    // SAFETY: by contract.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}

/// A function or global variable of a living [`LlvmModule`].
#[derive(Clone, Copy)]
struct Global {
    value: LLVMValueRef,
    is_function: bool,
}

impl Global {
    fn name(&self) -> String {
        let mut length = 0;
        // SAFETY: the value is alive, and so is its name of that length.
        let bytes = unsafe {
            let start = LLVMGetValueName2(self.value, &mut length).cast::<u8>();
            if length == 0 { &[] } else { std::slice::from_raw_parts(start, length) }
        };
        String::from_utf8_lossy(bytes).into_owned()
    }

    fn is_declaration(&self) -> bool {
        // SAFETY: the value is alive.
        unsafe { LLVMIsDeclaration(self.value) != 0 }
    }

    /// Returns the calling form of this function.
    ///
    /// # Safety
    /// It must be a function.
    unsafe fn callable(&self) -> Result<Callable, String> {
        // SAFETY: a living function; the array has as many elements as the function has parameters.
        unsafe {
            // The packed wrapper calls with the C convention and without attributes.
            if LLVMGetFunctionCallConv(self.value) != 0 {
                return Err("it has a calling convention of its own".into());
            }
            let ty = LLVMGlobalGetValueType(self.value);
            let mut types = vec![ptr::null_mut(); LLVMCountParamTypes(ty) as usize];
            LLVMGetParamTypes(ty, types.as_mut_ptr());
            let mut arguments = Vec::new();
            for (index, ty) in types.into_iter().enumerate() {
                if let Some(attribute) = self.passing_attribute(index) {
                    return Err(format!("argument {index} is passed as `{attribute}`"));
                }
                let slot =
                    Slot::of(&read_type(ty, 0)).map_err(|reason| format!("argument {index}: {reason}"))?;
                arguments.push(slot);
            }
            let result = Slot::of(&read_type(LLVMGetReturnType(ty), 0))
                .map_err(|reason| format!("result: {reason}"))?;
            let signature = Signature {
                arguments: arguments.iter().flat_map(Slot::types).collect(),
                results: result.types().collect(),
            };
            Ok(Callable { arguments, result, signature })
        }
    }

    /// Returns the attribute that changes how a parameter is passed, if any.
    ///
    /// # Safety
    /// It must be a function with such a parameter.
    unsafe fn passing_attribute(&self, index: usize) -> Option<&'static str> {
        let names = [
            "byval",
            "byref",
            "inalloca",
            "inreg",
            "nest",
            "preallocated",
            "signext",
            "sret",
            "swifterror",
            "swiftself",
            "zeroext",
        ];
        names.into_iter().find(|name| {
            // SAFETY: a living function; parameter attributes are counted from 1; the name has that
            // length.
            unsafe {
                let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
                !LLVMGetEnumAttributeAtIndex(self.value, index as c_uint + 1, kind).is_null()
            }
        })
    }
}

/// # Safety
/// `ty` must be valid.
unsafe fn read_type(ty: LLVMTypeRef, depth: u32) -> LlvmType {
    // SAFETY: each accessor is called on a type of the kind just tested; a struct's index is below
    // its length.
    unsafe {
        match LLVMGetTypeKind(ty) {
            LLVMTypeKind_LLVMVoidTypeKind => LlvmType::Void,
            LLVMTypeKind_LLVMIntegerTypeKind => LlvmType::Int(LLVMGetIntTypeWidth(ty)),
            LLVMTypeKind_LLVMFloatTypeKind => LlvmType::Float,
            LLVMTypeKind_LLVMDoubleTypeKind => LlvmType::Double,
            LLVMTypeKind_LLVMPointerTypeKind if LLVMGetPointerAddressSpace(ty) == 0 => LlvmType::Pointer,
            LLVMTypeKind_LLVMStructTypeKind if depth < MAX_DEPTH && LLVMIsOpaqueStruct(ty) == 0 => {
                let field = |i| read_type(LLVMStructGetTypeAtIndex(ty, i), depth + 1);
                let fields = (0..LLVMCountStructElementTypes(ty)).map(field).collect();
                LlvmType::Struct { packed: LLVMIsPackedStruct(ty) != 0, fields }
            }
            LLVMTypeKind_LLVMArrayTypeKind if depth < MAX_DEPTH => LlvmType::Array(
                LLVMGetArrayLength2(ty),
                Box::new(read_type(LLVMGetElementType(ty), depth + 1)),
            ),
            _ => LlvmType::Other(take_message(LLVMPrintTypeToString(ty))),
        }
    }
}

/// The calling form of a compiled function.
#[derive(Debug)]
struct Callable {
    arguments: Vec<Slot>,
    result: Slot,
    signature: Signature,
}

/// A compiled module.
#[derive(Debug)]
pub(super) struct Engine {
    raw: MlirExecutionEngine,
    functions: Vec<(String, Result<Callable, String>)>,
    by_name: BTreeMap<String, usize>,
}

impl Engine {
    /// Compiles `module`. `None` if it has no LLVM IR; the reason goes to the context's handlers.
    pub(super) fn new(module: &Module<'_>, level: OptLevel) -> Option<Result<Engine, JitError>> {
        let translated = LlvmModule::translate(module)?;
        let functions = translated.defined_functions();
        let by_name: BTreeMap<String, usize> =
            functions.iter().enumerate().map(|(index, (name, _))| (name.clone(), index)).collect();
        // LLVM's engine offers `f` packed as `_mlir_f`.
        let wrapped = |name: &str| name.strip_prefix("_mlir_").is_some_and(|name| by_name.contains_key(name));
        if let Some((name, _)) = functions.iter().find(|(name, _)| wrapped(name)) {
            return Some(Err(JitError::ReservedName(name.clone())));
        }
        let undefined = translated.undefined_symbols();
        if !undefined.is_empty() {
            return Some(Err(JitError::UndefinedSymbols(undefined)));
        }
        // SAFETY: `module` is alive; no library paths are passed. The engine keeps nothing of the
        // module.
        let raw = unsafe {
            mlirExecutionEngineCreate(module.to_raw(), level.number() as c_int, 0, ptr::null(), false, true)
        };
        if raw.ptr.is_null() {
            return Some(Err(JitError::CodeGeneration("no execution engine for this machine".into())));
        }
        // SAFETY: the engine is valid, and every symbol the module needs is known to exist.
        unsafe { mlirExecutionEngineInitialize(raw) };
        Some(Ok(Engine { raw, functions, by_name }))
    }

    /// Returns the functions in the module's order.
    pub(super) fn functions(&self) -> impl Iterator<Item = (&str, Result<&Signature, &str>)> {
        self.functions.iter().map(|(name, callable)| {
            let signature = callable.as_ref().map(|callable| &callable.signature);
            (name.as_str(), signature.map_err(String::as_str))
        })
    }

    /// Returns the type of `function`.
    pub(super) fn signature(&self, function: &str) -> Result<&Signature, JitError> {
        self.callable(function).map(|callable| &callable.signature)
    }

    fn callable(&self, function: &str) -> Result<&Callable, JitError> {
        let &index = self.by_name.get(function).ok_or_else(|| JitError::NoSuchFunction(function.into()))?;
        let callable = self.functions[index].1.as_ref();
        callable.map_err(|reason| JitError::NotCallable { function: function.into(), reason: reason.clone() })
    }

    /// Calls `function` through its packed wrapper.
    pub(super) fn call(&mut self, function: &str, values: &[JitValue]) -> Result<Vec<JitValue>, JitError> {
        let Callable { arguments, result, signature } = self.callable(function)?;
        let given: Vec<JitType> = values.iter().map(JitValue::ty).collect();
        if given != signature.arguments {
            let (function, expected) = (function.into(), signature.arguments.clone());
            return Err(JitError::Arguments { function, expected, given });
        }
        let mut memory: Vec<Vec<u64>> = arguments.iter().chain([result]).map(Slot::memory).collect();
        let mut rest = values;
        for (slot, memory) in arguments.iter().zip(&mut memory) {
            let (own, others) = rest.split_at(slot.len());
            slot.write(memory, own);
            rest = others;
        }
        let mut addresses: Vec<*mut c_void> =
            memory.iter_mut().map(|memory| memory.as_mut_ptr().cast()).collect();
        // SAFETY: the engine is valid. The wrapper takes an array of addresses: one of each
        // argument, then one of the result. Each points to memory of the size and alignment of that
        // argument's type, as read from the module the engine was compiled from. What the compiled
        // code itself does is trusted (see the documentation of the parent module).
        unsafe {
            let name = MlirStringRef { data: function.as_ptr().cast(), length: function.len() };
            let address = mlirExecutionEngineLookupPacked(self.raw, name);
            if address.is_null() {
                return Err(JitError::CodeGeneration(format!("no code for `{function}`")));
            }
            let packed = std::mem::transmute::<*mut c_void, unsafe extern "C" fn(*mut *mut c_void)>(address);
            packed(addresses.as_mut_ptr());
        }
        Ok(memory.last().map(|memory| result.read(memory)).unwrap_or_default())
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // SAFETY: owned, and destroyed nowhere else.
        unsafe { mlirExecutionEngineDestroy(self.raw) }
    }
}

/// A code generator.
struct TargetMachine {
    raw: LLVMTargetMachineRef,
}

impl TargetMachine {
    /// Returns a target machine for the triple of `module`. Without a triple it is this machine's,
    /// which is then set in the module.
    fn new(module: LLVMModuleRef, level: OptLevel) -> Result<TargetMachine, String> {
        initialize_native_target()?;
        // SAFETY: `module` is alive; triples and names are C strings, alive during the calls;
        // messages are LLVM's.
        unsafe {
            if CStr::from_ptr(LLVMGetTarget(module)).is_empty() {
                let triple = LLVMGetDefaultTargetTriple();
                LLVMSetTarget(module, triple);
                LLVMDisposeMessage(triple);
            }
            let triple = LLVMGetTarget(module);
            let (mut target, mut message) = (ptr::null_mut(), ptr::null_mut());
            if LLVMGetTargetFromTriple(triple, &mut target, &mut message) != 0 {
                return Err(take_message(message));
            }
            let (any, level) = (c"".as_ptr(), level.number() as c_uint);
            let raw = LLVMCreateTargetMachine(target, triple, any, any, level, RELOC_PIC, CODE_MODEL_DEFAULT);
            if raw.is_null() {
                Err("LLVM has no code generator for this target".into())
            } else {
                Ok(TargetMachine { raw })
            }
        }
    }
}

impl Drop for TargetMachine {
    fn drop(&mut self) {
        // SAFETY: owned, and disposed of nowhere else.
        unsafe { LLVMDisposeTargetMachine(self.raw) }
    }
}

/// Registers this machine's code generator with LLVM. MLIR's engine does so at its creation; the C
/// functions for it are named after each processor.
fn initialize_native_target() -> Result<(), String> {
    let registry = DialectRegistry::new();
    let context = Context::new_with_registry(&registry, false);
    utility::register_all_llvm_translations(&context);
    let empty = Module::new(Location::unknown(&context));
    // SAFETY: the module is alive; the engine is destroyed at once.
    unsafe {
        let engine = mlirExecutionEngineCreate(empty.to_raw(), 0, 0, ptr::null(), false, true);
        if engine.ptr.is_null() {
            return Err("LLVM has no code generator for this machine".into());
        }
        mlirExecutionEngineDestroy(engine);
    }
    Ok(())
}

type LLVMTargetMachineRef = *mut c_void;
type LLVMTargetRef = *mut c_void;
type LLVMTargetDataRef = *mut c_void;
type LLVMErrorRef = *mut c_void;
type LLVMPassBuilderOptionsRef = *mut c_void;

/// `LLVMObjectFile` of `llvm-c/TargetMachine.h`.
const OBJECT_FILE: c_uint = 1;
/// `LLVMRelocPIC`.
const RELOC_PIC: c_uint = 2;
/// `LLVMCodeModelDefault`.
const CODE_MODEL_DEFAULT: c_uint = 0;

// Functions of LLVM's C API that no header of MLIR's pulls in, so mlir-sys has no bindings of them;
// it links the libraries they are in. SAFETY: declared as in LLVM 22's `llvm-c/Target.h`,
// `TargetMachine.h`, `Error.h` and `Transforms/PassBuilder.h`.
unsafe extern "C" {
    fn LLVMGetDefaultTargetTriple() -> *mut c_char;
    fn LLVMGetTargetFromTriple(
        triple: *const c_char,
        target: *mut LLVMTargetRef,
        error: *mut *mut c_char,
    ) -> LLVMBool;
    fn LLVMCreateTargetMachine(
        target: LLVMTargetRef,
        triple: *const c_char,
        cpu: *const c_char,
        features: *const c_char,
        level: c_uint,
        reloc: c_uint,
        code_model: c_uint,
    ) -> LLVMTargetMachineRef;
    fn LLVMDisposeTargetMachine(machine: LLVMTargetMachineRef);
    fn LLVMCreateTargetDataLayout(machine: LLVMTargetMachineRef) -> LLVMTargetDataRef;
    fn LLVMDisposeTargetData(layout: LLVMTargetDataRef);
    fn LLVMSetModuleDataLayout(module: LLVMModuleRef, layout: LLVMTargetDataRef);
    fn LLVMTargetMachineEmitToMemoryBuffer(
        machine: LLVMTargetMachineRef,
        module: LLVMModuleRef,
        kind: c_uint,
        error: *mut *mut c_char,
        buffer: *mut LLVMMemoryBufferRef,
    ) -> LLVMBool;
    fn LLVMCreatePassBuilderOptions() -> LLVMPassBuilderOptionsRef;
    fn LLVMDisposePassBuilderOptions(options: LLVMPassBuilderOptionsRef);
    fn LLVMRunPasses(
        module: LLVMModuleRef,
        passes: *const c_char,
        machine: LLVMTargetMachineRef,
        options: LLVMPassBuilderOptionsRef,
    ) -> LLVMErrorRef;
    fn LLVMGetErrorMessage(error: LLVMErrorRef) -> *mut c_char;
    fn LLVMDisposeErrorMessage(message: *mut c_char);
}
