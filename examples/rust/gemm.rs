//! One small GEMM through jitgemm's C interface, on the emulator, where operands are arrays of the program's own:
//!
//!     rustc --edition 2021 -O -L PREFIX/lib gemm.rs && LD_LIBRARY_PATH=PREFIX/lib ./gemm
//!
//! On a GPU the pointers are addresses of device memory, and the stream is a CUstream or cudaStream_t.

use std::ffi::{c_void, CStr, CString};
use std::mem::size_of;
use std::os::raw::c_char;
use std::ptr::{null, null_mut};

/// jitgemm.h, as far as this program needs it.
#[allow(non_camel_case_types)]
mod c {
    use super::{c_char, c_void};

    pub enum jg_context {}
    pub enum jg_kernel {}

    #[repr(C)]
    pub struct jg_arguments {
        pub size: usize,
        pub a: *const c_void,
        pub b: *const c_void,
        pub c: *const c_void,
        pub d: *mut c_void,
        pub alpha: f32,
        pub beta: f32,
        pub workspace: *mut c_void,
        pub workspace_bytes: usize,
    }

    #[link(name = "jitgemm")]
    extern "C" {
        pub fn jg_last_error() -> *const c_char;
        pub fn jg_context_create(options: *const c_char, context: *mut *mut jg_context) -> i32;
        pub fn jg_context_destroy(context: *mut jg_context);
        pub fn jg_kernel_create(context: *mut jg_context, spec: *const c_char, kernel: *mut *mut jg_kernel) -> i32;
        pub fn jg_kernel_destroy(kernel: *mut jg_kernel);
        pub fn jg_kernel_query(k: *const jg_kernel, what: *const c_char, buffer: *mut c_void, size: *mut usize) -> i32;
        pub fn jg_kernel_launch(kernel: *const jg_kernel, arguments: *const jg_arguments, stream: *mut c_void) -> i32;
    }
}

/// JG_OK, or every reason as one text.
fn checked(status: i32) -> Result<(), String> {
    if status == 0 {
        return Ok(());
    }
    Err(unsafe { CStr::from_ptr(c::jg_last_error()) }.to_string_lossy().into_owned())
}

fn c_text(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|error| error.to_string())
}

struct Context(*mut c::jg_context);

impl Context {
    fn new(options: &str) -> Result<Self, String> {
        let mut context = null_mut();
        checked(unsafe { c::jg_context_create(c_text(options)?.as_ptr(), &mut context) })?;
        Ok(Context(context))
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        unsafe { c::jg_context_destroy(self.0) }
    }
}

struct Kernel(*mut c::jg_kernel);

impl Kernel {
    /// Outlives its context.
    fn new(context: &Context, spec: &str) -> Result<Self, String> {
        let mut kernel = null_mut();
        checked(unsafe { c::jg_kernel_create(context.0, c_text(spec)?.as_ptr(), &mut kernel) })?;
        Ok(Kernel(kernel))
    }

    fn name(&self) -> Result<String, String> {
        let what = c_text("name")?;
        let mut size = 0;
        checked(unsafe { c::jg_kernel_query(self.0, what.as_ptr(), null_mut(), &mut size) })?;
        let mut text = vec![0u8; size];
        checked(unsafe { c::jg_kernel_query(self.0, what.as_ptr(), text.as_mut_ptr().cast(), &mut size) })?;
        Ok(CStr::from_bytes_with_nul(&text).map_err(|error| error.to_string())?.to_string_lossy().into_owned())
    }

    /// D = alpha A B of matrices as large as the problem that the kernel was made for.
    fn launch(&self, alpha: f32, a: &[f32], b: &[f32], d: &mut [f32]) -> Result<(), String> {
        let arguments = c::jg_arguments {
            size: size_of::<c::jg_arguments>(),
            a: a.as_ptr().cast(),
            b: b.as_ptr().cast(),
            c: null(),
            d: d.as_mut_ptr().cast(),
            alpha,
            beta: 0.0,
            workspace: null_mut(),
            workspace_bytes: 0,
        };
        checked(unsafe { c::jg_kernel_launch(self.0, &arguments, null_mut()) })
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        unsafe { c::jg_kernel_destroy(self.0) }
    }
}

/// Small integers: every sum is exact.
fn small_integers(count: usize, period: usize) -> Vec<f32> {
    (0..count).map(|i| (i % period) as f32 - (period / 2) as f32).collect()
}

fn main() -> Result<(), String> {
    const M: usize = 33;
    const N: usize = 20;
    const K: usize = 50;
    let options = std::env::args().nth(1).unwrap_or("device=emulator:sm_80".into());
    let kernel = Kernel::new(&Context::new(&options)?, &format!("f32 tt {M} {N} {K}"))?;

    let a = small_integers(M * K, 7);
    let b = small_integers(K * N, 5);
    let mut d = vec![0.0; M * N];
    kernel.launch(2.0, &a, &b, &mut d)?;

    let expected = |i: usize| 2.0 * (0..K).map(|k| a[i / N * K + k] * b[k * N + i % N]).sum::<f32>();
    let wrong = (0..M * N).filter(|&i| d[i] != expected(i)).count();
    println!("{}\n{wrong} of {} elements are wrong", kernel.name()?, M * N);
    if wrong == 0 { Ok(()) } else { Err("a wrong result".into()) }
}
