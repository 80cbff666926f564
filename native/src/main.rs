//! `unroll-native --site FOLDER [--listen ADDRESS] [--port N] [--threads N] [--device NAME] [--adapter GPU]
//! [--keep FOLDER]`:
//! what `cargo xtask engine` runs.

use std::{
    net::{IpAddr, Ipv4Addr},
    process::{self, ExitCode},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use unroll_native::{Options, Running, Wanted, start};

fn main() -> ExitCode {
    let running = options().and_then(|options| Ok((options.listen, start(options)?)));
    match running {
        Ok((listen, running)) => {
            println!("Open this link in a browser on this computer:\n\n    {}\n", running.link());
            println!("Whoever has the link can use this engine: keep it to yourself.");
            if !listen.is_loopback() {
                println!(
                    "Other computers can reach this engine, and what they exchange with it is not \
                     encrypted: use --listen on networks that you trust."
                );
            }
            println!(
                "Training goes on when the page is closed. Ctrl-C ends the engine and its run."
            );
            if let Err(error) = keep_at_end(running) {
                println!(
                    "What this engine keeps is as old as five minutes when it ends ({error})."
                );
            }
            loop {
                thread::park();
            }
        }
        Err(sentence) => {
            eprintln!("{sentence}");
            ExitCode::FAILURE
        }
    }
}

/// Has Ctrl-C, and what else asks a process to end, wait for the run's last state. Whoever asks again does not
/// wait.
fn keep_at_end(running: Running) -> Result<(), ctrlc::Error> {
    let (running, asked) = (Arc::new(running), AtomicBool::new(false));
    ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            process::exit(130);
        }
        let running = Arc::clone(&running);
        thread::spawn(move || {
            running.keep();
            process::exit(130);
        });
    })
}

fn options() -> Result<Options, String> {
    let mut site = None;
    let mut options = Options {
        site: "site".into(),
        listen: Ipv4Addr::LOCALHOST.into(),
        port: 8090,
        threads: thread::available_parallelism().map_or(1, |threads| threads.get() as u32),
        device: Wanted::Auto,
        adapter: None,
        keep: "unroll-runs".into(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value."))?;
        let trouble = |_| format!("{name} can’t be “{value}”.");
        match &*name {
            "--site" => site = Some(value.into()),
            "--listen" => options.listen = value.parse::<IpAddr>().map_err(|_| trouble(()))?,
            "--port" => options.port = value.parse().map_err(|_| trouble(()))?,
            "--threads" => {
                let threads = value.parse().ok().filter(|threads| (1..=64).contains(threads));
                options.threads = threads.ok_or_else(|| trouble(()))?;
            }
            "--device" => options.device = Wanted::named(&value).ok_or_else(|| trouble(()))?,
            "--adapter" => options.adapter = Some(value),
            "--keep" => options.keep = value.into(),
            _ => return Err(format!("{name} is not understood.")),
        }
    }
    options.site = site.ok_or("--site names the folder with the built page.")?;
    Ok(options)
}
